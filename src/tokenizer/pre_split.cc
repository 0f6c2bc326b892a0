#include "tokenizer/pre_split.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/utf8.h"

namespace vivace {
namespace {

constexpr std::array<CharClass, 128> MakeAsciiClasses() {
  std::array<CharClass, 128> classes = {};
  for (char c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = CharClass::kLetter;
  for (char c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = CharClass::kLetter;
  for (char c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = CharClass::kNumber;
  for (const char c : {' ', '\t', '\v', '\f'}) {
    classes[static_cast<std::size_t>(c)] = CharClass::kSpace;
  }
  classes['\n'] = CharClass::kNewline;
  classes['\r'] = CharClass::kNewline;
  return classes;
}
constexpr std::array<CharClass, 128> kAsciiClasses = MakeAsciiClasses();

constexpr bool IsSpace(CharClass kind) {
  return kind == CharClass::kSpace || kind == CharClass::kNewline;
}

// Bytes of 's 't 're 've 'm 'll 'd at an apostrophe, or 0. With `any_case`, case is ignored as
// Unicode has it: the long s (U+017F) is an s.
std::size_t ContractionSize(std::string_view text, std::size_t begin, bool any_case) {
  constexpr std::array<std::string_view, 8> kEndings = {"s", "t",  "re", "ve",
                                                        "m", "ll", "d",  "\xC5\xBF"};
  const std::size_t count = any_case ? kEndings.size() : kEndings.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view found = text.substr(begin + 1, kEndings[i].size());
    if (std::ranges::equal(found, kEndings[i], [any_case](char a, char b) {
          return (any_case ? ToLower(a) : a) == b;
        })) {
      return 1 + found.size();
    }
  }
  return 0;
}

}  // namespace

PreSplit::Char PreSplit::At(std::string_view text, std::size_t position) const {
  const auto byte = static_cast<std::uint8_t>(text[position]);
  if (byte < 0x80) return {kAsciiClasses[byte], 1};
  const Utf8Char c = DecodeUtf8(text, position);
  if (c.status != Utf8Status::kValid) return {CharClass::kOther, 1};
  const std::uint8_t kind = tables_.ClassOf(c.code_point) & kClassMask;
  // Damaged tables may hold a class that is none; every word must have a character.
  if (kind > static_cast<std::uint8_t>(CharClass::kNewline)) return {CharClass::kOther, c.length};
  return {static_cast<CharClass>(kind), c.length};
}

std::size_t PreSplit::RunEnd(std::string_view text, std::size_t position, CharClass kind) const {
  while (position < text.size()) {
    const Char c = At(text, position);
    if (c.kind != kind) break;
    position += c.length;
  }
  return position;
}

std::size_t PreSplit::WordEnd(std::string_view text, std::size_t begin) const {
  switch (pre_) {
    case PreRules::kGpt2:
      return WordEndLikeGpt2(text, begin, false);
    case PreRules::kSmolLm:
      return WordEndLikeGpt2(text, begin, true);
    case PreRules::kQwen2:
      return WordEndLikeGpt4(text, begin, 1);
    case PreRules::kLlama3:
      return WordEndLikeGpt4(text, begin, 3);
    case PreRules::kNone:
      break;
  }
  return text.size();
}

// \s+(?!\S)|\s+ and, with `newlines_end`, before them \s*[\r\n]+: white space up to its last
// line break; else all of it but the last character, which goes with the word behind it; but
// all at the text's end.
std::size_t PreSplit::SpacesEnd(std::string_view text, std::size_t begin, bool newlines_end) const {
  std::size_t end = begin;
  std::size_t last = begin;  // start of the last character
  std::size_t after_newline = begin;
  while (end < text.size()) {
    const Char c = At(text, end);
    if (!IsSpace(c.kind)) break;
    last = end;
    end += c.length;
    if (c.kind == CharClass::kNewline) after_newline = end;
  }
  if (newlines_end && after_newline > begin) return after_newline;
  return end == text.size() || last == begin ? end : last;
}

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// With `digits_alone` every number character is cut out first, and the rest is cut as texts
// of their own: white space before a digit is then at its text's end.
std::size_t PreSplit::WordEndLikeGpt2(std::string_view text, std::size_t begin,
                                      bool digits_alone) const {
  const Char first = At(text, begin);
  if (text[begin] == '\'') {
    const std::size_t size = ContractionSize(text, begin, false);
    if (size > 0) return begin + size;
  }
  std::size_t at = begin;
  CharClass kind = first.kind;
  if (text[begin] == ' ' && begin + 1 < text.size()) {
    const CharClass next = At(text, begin + 1).kind;
    if (!IsSpace(next) && (!digits_alone || next != CharClass::kNumber)) {
      at = begin + 1;
      kind = next;
    }
  }
  if (digits_alone && kind == CharClass::kNumber) return at + first.length;
  if (!IsSpace(kind)) return RunEnd(text, at, kind);
  const std::size_t end = SpacesEnd(text, begin, false);
  return digits_alone ? SpacesEndBeforeDigit(text, end) : end;
}

// Of white space cut at `end`: with the last character that was left out, if a digit follows.
std::size_t PreSplit::SpacesEndBeforeDigit(std::string_view text, std::size_t end) const {
  if (end == text.size()) return end;
  const Char left_out = At(text, end);
  if (!IsSpace(left_out.kind)) return end;
  const std::size_t all = end + left_out.length;
  return At(text, all).kind == CharClass::kNumber ? all : end;
}

// Up to `max_digits` number characters.
std::size_t PreSplit::NumberEnd(std::string_view text, std::size_t begin, int max_digits) const {
  std::size_t at = begin;
  for (int count = 0; count < max_digits && at < text.size(); ++count) {
    const Char next = At(text, at);
    if (next.kind != CharClass::kNumber) break;
    at += next.length;
  }
  return at;
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,max}
// | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
std::size_t PreSplit::WordEndLikeGpt4(std::string_view text, std::size_t begin,
                                      int max_digits) const {
  const Char first = At(text, begin);
  if (text[begin] == '\'') {
    const std::size_t size = ContractionSize(text, begin, true);
    if (size > 0) return begin + size;
  }
  if (first.kind == CharClass::kLetter) return RunEnd(text, begin, CharClass::kLetter);
  if (first.kind == CharClass::kNumber) return NumberEnd(text, begin, max_digits);
  const std::size_t at = begin + first.length;
  if (first.kind != CharClass::kNewline && at < text.size()) {
    const CharClass next = At(text, at).kind;
    if (next == CharClass::kLetter) return RunEnd(text, at, CharClass::kLetter);
    if (text[begin] == ' ' && next != CharClass::kOther) return SpacesEnd(text, begin, true);
  }
  const bool space_then_other = text[begin] == ' ' && at < text.size();
  if (first.kind != CharClass::kOther && !space_then_other) return SpacesEnd(text, begin, true);
  return RunEnd(text, RunEnd(text, at, CharClass::kOther), CharClass::kNewline);
}

}  // namespace vivace
