#include "tokenizer/nfc.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <utf8proc.h>

#include "base/utf8.h"
#include "tokenizer/char_class.h"

namespace vivace {
namespace {

// The first position from `from` on that is not ASCII.
std::size_t SkipAscii(std::string_view text, std::size_t from) {
  while (from + 8 <= text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + from, 8);
    if ((word & 0x8080808080808080U) != 0) break;
    from += 8;
  }
  while (from < text.size() && static_cast<std::uint8_t>(text[from]) < 0x80) ++from;
  return from;
}

// What may have to change: a character that is left alone, and those after it that are not.
struct Stretch {
  std::size_t begin;
  std::size_t end;
};

// The first such stretch at or after `from`; begin == text.size() if there is none.
Stretch FindStretch(const TableView& tables, std::string_view text, std::size_t from) {
  std::size_t base = from;  // start of the last character, the possible first half
  std::size_t at = from;
  while (at < text.size()) {
    const std::size_t wide = SkipAscii(text, at);
    if (wide > at) base = wide - 1;
    at = wide;
    if (at == text.size()) break;
    Utf8Char c = DecodeUtf8(text, at);
    if (c.status != Utf8Status::kValid) {
      at += c.length;
      base = at;
      continue;
    }
    if ((tables.ClassOf(c.code_point) & kMayCompose) == 0) {
      base = at;
      at += c.length;
      continue;
    }
    do {
      at += c.length;
      if (at == text.size()) break;
      c = DecodeUtf8(text, at);
    } while (c.status == Utf8Status::kValid && (tables.ClassOf(c.code_point) & kMayCompose) != 0);
    return {base, at};
  }
  return {text.size(), text.size()};
}

// Appends the normal form of a stretch of valid text.
void AppendComposed(std::string_view stretch, std::vector<utf8proc_int32_t>& parts,
                    std::string& out) {
  parts.clear();
  const auto decompose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  for (std::size_t i = 0; i < stretch.size();) {
    const Utf8Char c = DecodeUtf8(stretch, i);
    std::array<utf8proc_int32_t, 16> of_char = {};
    int last_boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c.code_point), of_char.data(),
                                of_char.size(), decompose, &last_boundary);
    if (count >= 1 && count <= static_cast<utf8proc_ssize_t>(of_char.size())) {
      parts.insert(parts.end(), of_char.begin(), of_char.begin() + count);
    } else {
      parts.push_back(static_cast<utf8proc_int32_t>(c.code_point));
    }
    i += c.length;
  }
  // utf8proc's own ordering takes quadratic time in the length of a run of marks.
  const auto mark_class = [](utf8proc_int32_t c) {
    return utf8proc_get_property(c)->combining_class;
  };
  const auto is_base = [&](utf8proc_int32_t c) { return mark_class(c) == 0; };
  for (auto run = parts.begin(); run != parts.end();) {
    const auto marks = std::find_if_not(run, parts.end(), is_base);
    run = std::find_if(marks, parts.end(), is_base);
    std::stable_sort(marks, run, [&](utf8proc_int32_t a, utf8proc_int32_t b) {
      return mark_class(a) < mark_class(b);
    });
  }
  const auto compose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const utf8proc_ssize_t size =
      utf8proc_normalize_utf32(parts.data(), static_cast<utf8proc_ssize_t>(parts.size()), compose);
  for (utf8proc_ssize_t i = 0; i < size; ++i) {
    AppendUtf8(static_cast<char32_t>(parts[static_cast<std::size_t>(i)]), out);
  }
}

}  // namespace

std::string_view ToNfc(const TableView& tables, std::string_view text, std::string& buffer) {
  Stretch stretch = FindStretch(tables, text, 0);
  if (stretch.begin == text.size()) return text;
  buffer.clear();
  std::vector<utf8proc_int32_t> parts;
  std::size_t done = 0;
  while (stretch.begin < text.size()) {
    buffer.append(text, done, stretch.begin - done);
    AppendComposed(text.substr(stretch.begin, stretch.end - stretch.begin), parts, buffer);
    done = stretch.end;
    stretch = FindStretch(tables, text, done);
  }
  buffer.append(text, done);
  return buffer;
}

}  // namespace vivace
