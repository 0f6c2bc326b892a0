// UTF-8: reading and writing single characters, and repair of broken text.
//
// Broken text follows Unicode 15 section 3.9: each maximal subpart of an ill-formed
// sequence stands for one U+FFFD, as in web browsers. Stateless; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vivace {

enum class Utf8Status : std::uint8_t {
  kValid,
  kInvalid,     // no continuation can make it valid
  kIncomplete,  // the text ends inside a character that is valid so far
};

struct Utf8Char {
  char32_t code_point = 0;  // 0 unless valid
  // Bytes of the character, or of the maximal subpart; never 0.
  std::uint8_t length = 1;
  Utf8Status status = Utf8Status::kInvalid;
};

// What starts at `position`, which must be below text.size().
Utf8Char DecodeUtf8(std::string_view text, std::size_t position);

// Appends one character. Precondition: a code point up to 0x10FFFF, no surrogate.
void AppendUtf8(char32_t code_point, std::string& out);

bool IsValidUtf8(std::string_view text);

// Appends `text` with U+FFFD for what is broken and returns 0; or, with `keep_tail`, leaves
// out an incomplete character at the end and returns its size in bytes.
std::size_t AppendRepaired(std::string_view text, bool keep_tail, std::string& out);

}  // namespace vivace
