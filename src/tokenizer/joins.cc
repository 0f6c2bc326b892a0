#include "tokenizer/joins.h"

#include "tokenizer/table_hash.h"

namespace vivace {
namespace {

// A byte-level merge may hold only part of the character at its edge. Such an edge is named
// by the one byte that touches the place.
constexpr std::uint32_t kPartial = 0x80000000U;

std::size_t BitOf(std::uint32_t left, std::uint32_t right) {
  const std::uint64_t hash = MixBits((std::uint64_t{left} << 32) | right);
  return static_cast<std::size_t>(hash & (kJoinBits - 1));
}

bool Test(std::span<const std::uint64_t> bits, std::uint32_t left, std::uint32_t right) {
  const std::size_t bit = BitOf(left, right);
  return ((bits[bit / 64] >> (bit % 64)) & 1) != 0;
}

bool IsContinuation(char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace

void JoinBuilder::Add(std::string_view left, std::string_view right) {
  if (left.empty() || right.empty() || IsContinuation(right.front())) return;
  std::size_t start = left.size() - 1;
  while (start > 0 && IsContinuation(left[start])) --start;
  std::uint32_t left_edge = kPartial | static_cast<std::uint8_t>(left.back());
  if (!IsContinuation(left[start])) {
    const Utf8Char last = DecodeUtf8(left, start);
    // A merge inside a character, or one that no valid text can reach.
    if (last.status != Utf8Status::kValid || start + last.length != left.size()) return;
    left_edge = last.code_point;
  }
  const Utf8Char first = DecodeUtf8(right, 0);
  if (first.status == Utf8Status::kInvalid) return;
  const std::uint32_t right_edge = first.status == Utf8Status::kValid
                                       ? static_cast<std::uint32_t>(first.code_point)
                                       : kPartial | static_cast<std::uint8_t>(right.front());
  const std::size_t bit = BitOf(left_edge, right_edge);
  bits_[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

bool MayJoin(std::span<const std::uint64_t> bits, char32_t left, std::uint8_t left_end,
             char32_t right, std::uint8_t right_begin) {
  if (Test(bits, left, right)) return true;
  const bool wide_left = left >= 0x80;
  const bool wide_right = right >= 0x80;
  return (wide_left && Test(bits, kPartial | left_end, right)) ||
         (wide_right && Test(bits, left, kPartial | right_begin)) ||
         (wide_left && wide_right && Test(bits, kPartial | left_end, kPartial | right_begin));
}

}  // namespace vivace
