#include "constrain/gbnf_scanner.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/utf8.h"

namespace vivace {
namespace {

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

}  // namespace

Failure FailAt(GbnfPlace place, const std::string& message) {
  return Fail(ErrorKind::kBadInput,
              fmt::format("line {}, column {}: {}", place.line, place.column, message));
}

void GbnfScanner::Skip(std::size_t bytes) {
  for (const std::size_t end = std::min(at_ + bytes, text_.size()); at_ < end; ++at_) {
    if (text_[at_] == '\n') {
      ++place_.line;
      place_.column = 1;
    } else {
      ++place_.column;
    }
  }
}

bool GbnfScanner::Take(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return false;
  Skip(word.size());
  return true;
}

void GbnfScanner::SkipSpace(bool line_ends) {
  for (;;) {
    const char c = peek();
    if (c == '#') {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      Skip(end - at_);
    } else if (!done() && (c == ' ' || c == '\t' || (line_ends && (c == '\n' || c == '\r')))) {
      Skip(1);
    } else {
      return;
    }
  }
}

std::string_view GbnfScanner::Name() {
  std::size_t end = at_;
  while (end < text_.size() && IsNameByte(text_[end])) ++end;
  const std::string_view name = text_.substr(at_, end - at_);
  Skip(name.size());
  return name;
}

Result<std::uint32_t> GbnfScanner::Number() {
  std::uint32_t number = 0;
  const char* begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
  if (error == std::errc::result_out_of_range) return FailAt(place_, "the number is too large");
  if (error != std::errc()) return FailAt(place_, "expected a number, got " + Quoted());
  Skip(static_cast<std::size_t>(end - begin));
  return number;
}

Result<char32_t> GbnfScanner::Character() {
  if (done()) return FailAt(place_, "the grammar ends inside a literal or a class");
  if (peek() == '\\') return Escape();
  const Utf8Char c = DecodeUtf8(text_, at_);
  if (c.status != Utf8Status::kValid) return FailAt(place_, "not valid UTF-8");
  Skip(c.length);
  return c.code_point;
}

Result<char32_t> GbnfScanner::Escape() {
  const GbnfPlace place = place_;
  Skip(1);
  const char c = peek();
  const std::string shown = "\\" + std::string(done() ? "" : std::string(1, c));
  Skip(1);
  switch (c) {
    case 'x':
      return Hex(2);
    case 'u':
      return Hex(4);
    case 'U':
      return Hex(8);
    case 'n':
      return U'\n';
    case 'r':
      return U'\r';
    case 't':
      return U'\t';
    case '\\':
    case '"':
    case '[':
    case ']':
    case '-':
    case '^':
      return static_cast<char32_t>(c);
    default:
      return FailAt(place, fmt::format("\"{}\" is unknown, allowed is \\x \\u \\U \\n \\r \\t \\\\ "
                                       "\\\" \\[ \\] \\- \\^",
                                       shown));
  }
}

Result<char32_t> GbnfScanner::Hex(std::size_t digits) {
  const GbnfPlace place = place_;
  const std::string_view hex = text_.substr(at_, digits);
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
  if (error != std::errc() || hex.size() < digits || end != hex.data() + digits) {
    return FailAt(place, fmt::format("expected {} hexadecimal digits", digits));
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    return FailAt(place, fmt::format("U+{:04X} is no character", code));
  }
  Skip(digits);
  return static_cast<char32_t>(code);
}

std::string GbnfScanner::Quoted() const {
  if (done()) return "the end of the grammar";
  if (peek() == '\n' || peek() == '\r') return "the end of the line";
  std::string shown;
  AppendRepaired(text_.substr(at_, DecodeUtf8(text_, at_).length), false, shown);
  return "\"" + shown + "\"";
}

}  // namespace vivace
