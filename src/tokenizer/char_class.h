// CharClass: what the pre-split rules tell apart, and the table of it.
//
// Classes are those of Unicode 16 for every code point that utf8proc or the list of later
// additions knows; anything else (unassigned, private, broken) is kOther.
#pragma once

#include <cstdint>
#include <vector>

namespace vivace {

enum class CharClass : std::uint8_t {
  kOther = 0,
  kLetter = 1,   // general category L
  kNumber = 2,   // general category N
  kSpace = 3,    // White_Space, except:
  kNewline = 4,  // U+000A, U+000D
};

// The byte of a code point in TableSection::kClassBlocks: its class, plus kMayCompose if
// NFC can change it or join it to what stands before.
inline constexpr std::uint8_t kClassMask = 0x07;
inline constexpr std::uint8_t kMayCompose = 0x08;

struct CharClassTable {
  std::vector<std::uint16_t> index;  // [0x1100]
  std::vector<std::uint8_t> blocks;  // [][256], equal blocks once
};

CharClassTable BuildCharClasses();

}  // namespace vivace
