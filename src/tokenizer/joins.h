// Joins: where a word may be cut without changing what merging makes of it.
//
// Merging joins two neighbours only if some merge's left part can end, and its right part can
// begin, at the place between them. A set of bits, hashed by the two characters there, holds
// every such place (and by chance a few more, which only costs a cut). Where the bit is clear,
// both sides merge on their own, which makes words short and lookups likely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace vivace {

inline constexpr std::size_t kJoinBits = std::size_t{1} << 20;

// The bits while they are being collected.
class JoinBuilder {
 public:
  JoinBuilder() : bits_(kJoinBits / 64) {}

  // Notes a merge of these two pieces.
  void Add(std::string_view left, std::string_view right);
  std::span<const std::uint64_t> bits() const { return bits_; }

 private:
  std::vector<std::uint64_t> bits_;
};

// Whether some merge may reach across the place between two whole characters. `bits` has
// kJoinBits bits; `left_end` is the last byte of `left` in UTF-8, `right_begin` the first
// of `right`.
bool MayJoin(std::span<const std::uint64_t> bits, char32_t left, std::uint8_t left_end,
             char32_t right, std::uint8_t right_begin);

}  // namespace vivace
