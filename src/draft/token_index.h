// TokenIndex: where a run of tokens has stood before, and what came after it.
//
// Hash chains, as a compressor has them: each position is linked to the last one before it
// that follows the same few tokens. Keeps the newest tokens only, so its memory is fixed when
// it is made and nothing allocates later. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"

namespace vivace {

class TokenIndex {
 public:
  // What may stand between two texts: no match goes across it, and none predicts it.
  static constexpr TokenId kBreak = -1;
  // A match is compared no further than this.
  static constexpr int kLongest = 32;

  // Keeps at least the newest `capacity` tokens and finds runs of `least` or more of them.
  // Precondition: capacity >= 1, 1 <= least <= kLongest.
  TokenIndex(std::int64_t capacity, int least);

  void Append(TokenId token);
  void Clear();

  struct Match {
    std::int64_t next = -1;  // position of the token that followed; -1: there is no match
    int length = 0;
  };
  // The longest run that ends `context` and is followed by a token; among several the latest.
  // `likely` is where a longer match than the latest ones' may go on, or -1: the next position
  // of an earlier match, whose token then came.
  Match Find(std::span<const TokenId> context, std::int64_t likely = -1) const;

  // Positions count from the first token ever appended.
  std::int64_t size() const { return size_; }
  std::int64_t oldest() const { return size_ > capacity() ? size_ - capacity() : 0; }
  // Precondition: oldest() <= position < size().
  TokenId at(std::int64_t position) const { return tokens_[Slot(position)]; }

 private:
  std::int64_t capacity() const { return static_cast<std::int64_t>(tokens_.size()); }
  std::size_t Slot(std::int64_t position) const {
    return static_cast<std::size_t>(position) & (tokens_.size() - 1);
  }
  // Of the last `least_` tokens of `run`.
  std::size_t Bucket(std::span<const TokenId> run) const;
  // How many tokens before `position` are those at the end of `context`.
  int Common(std::span<const TokenId> context, std::int64_t position) const;

  int least_;
  std::int64_t size_ = 0;
  std::vector<TokenId> tokens_;         // [capacity], a power of two
  std::vector<std::int64_t> heads_;     // [buckets]: the latest position, or -1
  std::vector<std::int64_t> previous_;  // [capacity]: the one before it in its chain, or -1
  std::vector<TokenId> newest_;         // the last `least_` tokens
};

}  // namespace vivace
