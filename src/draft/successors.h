// Successors: for every token the one that has most steadily come after it.
//
// What models say token by token repeats itself, also in texts that have no long run in
// common (Luo et al. 2024, "Token Recycling"). One entry a token, with a small count: what
// came last replaces what stands there once it has come as often. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/token_id.h"

namespace vivace {

class Successors {
 public:
  explicit Successors(std::int64_t vocab_size) : entries_(static_cast<std::size_t>(vocab_size)) {}

  // Precondition here and below: 0 <= token < vocab_size.
  void See(TokenId token, TokenId next) {
    Entry& entry = entries_[static_cast<std::size_t>(token)];
    if (entry.next == next) {
      entry.count = std::min(entry.count + 1, kMostCount);
    } else if (--entry.count < 0) {
      entry = {.next = next, .count = 0};
    }
  }

  // The likely next token and how often it was confirmed, at most kMostCount; -1: none was seen.
  struct Entry {
    TokenId next = -1;
    std::int32_t count = 0;
  };
  Entry Next(TokenId token) const { return entries_[static_cast<std::size_t>(token)]; }

  void Clear() { std::ranges::fill(entries_, Entry{}); }

  static constexpr std::int32_t kMostCount = 3;

 private:
  std::vector<Entry> entries_;
};

}  // namespace vivace
