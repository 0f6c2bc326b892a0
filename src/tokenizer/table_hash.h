// The hash functions of the tables. They are part of the stored format: a change needs a new
// TableHeader::kVersion. Little-endian machines only, like the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/token_id.h"

namespace vivace {

inline std::uint64_t MixBits(std::uint64_t x) {
  x *= 0x9E3779B97F4A7C15U;
  return x ^ (x >> 32);
}

inline std::uint64_t HashPiece(std::string_view piece) {
  const char* p = piece.data();
  std::size_t left = piece.size();
  std::uint64_t hash = MixBits(left + 0x51ED2701U);
  const auto load = [](const char* at, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, count);
    return word;
  };
  while (left > 8) {
    hash = MixBits(hash ^ load(p, 8));
    p += 8;
    left -= 8;
  }
  // Two overlapping loads of a fixed size instead of one of a variable size.
  std::uint64_t tail = 0;
  if (left == 8) {
    tail = load(p, 8);
  } else if (left >= 4) {
    tail = load(p, 4) | (load(p + left - 4, 4) << 32);
  } else if (left >= 2) {
    tail = load(p, 2) | (load(p + left - 2, 2) << 16);
  } else if (left == 1) {
    tail = load(p, 1);
  }
  return MixBits(MixBits(hash ^ tail));
}

inline std::uint64_t HashPair(TokenId left, TokenId right) {
  return MixBits(MixBits((std::uint64_t{static_cast<std::uint32_t>(left)} << 32) |
                         static_cast<std::uint32_t>(right)));
}

// The first slot to look at, of `slots` below 2^32.
inline std::size_t FirstSlot(std::uint64_t hash, std::size_t slots) {
  return static_cast<std::size_t>(((hash >> 32) * slots) >> 32);
}

}  // namespace vivace
