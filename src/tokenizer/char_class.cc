#include "tokenizer/char_class.h"

#include <algorithm>
#include <array>
#include <map>

#include <utf8proc.h>

namespace vivace {
namespace {

constexpr std::int32_t kCodePoints = 0x110000;

struct Range {
  std::int32_t first;
  std::int32_t last;
};

// Letters and numbers of Unicode 15.1 and 16, which utf8proc 2.8 (Unicode 15) lacks.
constexpr std::array kLaterLetters = {
    Range{0x1C89, 0x1C8A},   Range{0xA7CB, 0xA7CD},   Range{0xA7DA, 0xA7DC},
    Range{0x105C0, 0x105F3}, Range{0x10D4A, 0x10D65}, Range{0x10D6F, 0x10D85},
    Range{0x10EC2, 0x10EC4}, Range{0x11380, 0x11389}, Range{0x1138B, 0x1138B},
    Range{0x1138E, 0x1138E}, Range{0x11390, 0x113B5}, Range{0x113B7, 0x113B7},
    Range{0x113D1, 0x113D1}, Range{0x113D3, 0x113D3}, Range{0x11BC0, 0x11BE0},
    Range{0x13460, 0x143FA}, Range{0x16100, 0x1611D}, Range{0x16D40, 0x16D6C},
    Range{0x18CFF, 0x18CFF}, Range{0x1E5D0, 0x1E5ED}, Range{0x1E5F0, 0x1E5F0},
    Range{0x2EBF0, 0x2EE5D},
};
constexpr std::array kLaterNumbers = {
    Range{0x10D40, 0x10D49}, Range{0x116D0, 0x116E3}, Range{0x11BF0, 0x11BF9},
    Range{0x16130, 0x16139}, Range{0x16D70, 0x16D79}, Range{0x1CCF0, 0x1CCF9},
    Range{0x1E5F1, 0x1E5FA},
};

bool IsSpace(std::int32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

CharClass ClassOf(std::int32_t c) {
  if (c == '\n' || c == '\r') return CharClass::kNewline;
  if (IsSpace(c)) return CharClass::kSpace;
  const utf8proc_category_t category = utf8proc_category(c);
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) {
    return CharClass::kLetter;
  }
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) {
    return CharClass::kNumber;
  }
  return CharClass::kOther;
}

using Parts = std::vector<utf8proc_int32_t>;

// The full canonical decomposition.
Parts Decompose(std::int32_t c) {
  Parts parts(16);
  int last_boundary = 0;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      c, parts.data(), static_cast<utf8proc_ssize_t>(parts.size()), options, &last_boundary);
  parts.resize(count >= 1 && count <= 16 ? static_cast<std::size_t>(count) : 0);
  return parts;
}

bool ComposesBack(std::int32_t c, Parts parts) {
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  return utf8proc_normalize_utf32(parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
                                  options) == 1 &&
         parts[0] == c;
}

// Marks that may be reordered, the second halves of compositions, and what composition does
// not give back (most of Latin it does). Too many would be fine: they are only looked at
// closer.
void MarkThoseThatMayCompose(std::vector<std::uint8_t>& classes) {
  constexpr auto kNoDecomposition = std::uint16_t{0xFFFF};
  const auto mark = [&](std::int32_t c) { classes[static_cast<std::size_t>(c)] |= kMayCompose; };
  for (std::int32_t c = 0x80; c < kCodePoints; ++c) {
    if (c >= 0xAC00 && c < 0xE000) continue;  // Hangul composes back; surrogates are no text
    const utf8proc_property_t* property = utf8proc_get_property(c);
    if (property->combining_class != 0) mark(c);
    if (property->decomp_seqindex == kNoDecomposition) continue;
    const Parts parts = Decompose(c);
    if (parts.size() == 1 && parts[0] == c) continue;
    if (parts.size() > 1) mark(parts.back());
    if (!ComposesBack(c, parts)) mark(c);
  }
  for (std::int32_t vowel = 0x1161; vowel <= 0x1175; ++vowel) mark(vowel);  // Hangul
  for (std::int32_t tail = 0x11A8; tail <= 0x11C2; ++tail) mark(tail);
}

// The class byte of every code point.
std::vector<std::uint8_t> ClassBytes() {
  std::vector<std::uint8_t> classes(kCodePoints);
  for (std::int32_t c = 0; c < kCodePoints; ++c) {
    classes[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(ClassOf(c));
  }
  const auto fill = [&](Range range, CharClass kind) {
    std::fill(classes.begin() + range.first, classes.begin() + range.last + 1,
              static_cast<std::uint8_t>(kind));
  };
  for (const Range range : kLaterLetters) fill(range, CharClass::kLetter);
  for (const Range range : kLaterNumbers) fill(range, CharClass::kNumber);
  MarkThoseThatMayCompose(classes);
  return classes;
}

}  // namespace

CharClassTable BuildCharClasses() {
  const std::vector<std::uint8_t> classes = ClassBytes();
  CharClassTable table;
  std::map<std::array<std::uint8_t, 256>, std::uint16_t> known;
  for (auto at = classes.begin(); at != classes.end(); at += 256) {
    std::array<std::uint8_t, 256> block = {};
    std::copy_n(at, 256, block.begin());
    const auto [found, is_new] = known.emplace(block, static_cast<std::uint16_t>(known.size()));
    if (is_new) table.blocks.insert(table.blocks.end(), block.begin(), block.end());
    table.index.push_back(found->second);
  }
  return table;
}

}  // namespace vivace
