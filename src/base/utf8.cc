#include "base/utf8.h"

namespace vivace {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The bytes that may follow a lead byte; what follows those is always 80..BF.
struct SecondByte {
  std::uint8_t length;  // of the whole character; 0: not a lead byte
  std::uint8_t low;
  std::uint8_t high;
};

constexpr SecondByte SecondAfter(std::uint8_t lead) {
  if (lead < 0xC2 || lead > 0xF4) return {0, 0, 0};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};  // below: overlong
  if (lead == 0xED) return {3, 0x80, 0x9F};  // above: surrogates
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};  // below: overlong
  if (lead == 0xF4) return {4, 0x80, 0x8F};  // above: beyond U+10FFFF
  return {4, 0x80, 0xBF};
}

}  // namespace

Utf8Char DecodeUtf8(std::string_view text, std::size_t position) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[position + i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, Utf8Status::kValid};
  const SecondByte second = SecondAfter(lead);
  if (second.length == 0) return {0, 1, Utf8Status::kInvalid};
  const std::size_t left = text.size() - position;
  char32_t code_point = lead & (0xFFU >> (second.length + 1));
  std::uint8_t low = second.low;
  std::uint8_t high = second.high;
  for (std::uint8_t i = 1; i < second.length; ++i) {
    if (i >= left) return {0, i, Utf8Status::kIncomplete};
    const std::uint8_t next = byte(i);
    if (next < low || next > high) return {0, i, Utf8Status::kInvalid};
    code_point = (code_point << 6) | (next & 0x3FU);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, second.length, Utf8Status::kValid};
}

void AppendUtf8(char32_t code_point, std::string& out) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
    return;
  }
  if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
  } else {
    if (code_point < 0x10000) {
      put(0xE0 | (code_point >> 12));
    } else {
      put(0xF0 | (code_point >> 18));
      put(0x80 | ((code_point >> 12) & 0x3F));
    }
    put(0x80 | ((code_point >> 6) & 0x3F));
  }
  put(0x80 | (code_point & 0x3F));
}

bool IsValidUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char c = DecodeUtf8(text, i);
    if (c.status != Utf8Status::kValid) return false;
    i += c.length;
  }
  return true;
}

std::size_t AppendRepaired(std::string_view text, bool keep_tail, std::string& out) {
  std::size_t good = 0;  // start of the valid bytes not yet appended
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char c = DecodeUtf8(text, i);
    if (c.status != Utf8Status::kValid) {
      out.append(text, good, i - good);
      if (c.status == Utf8Status::kIncomplete && keep_tail) return text.size() - i;
      out.append(kReplacement);
      good = i + c.length;
    }
    i += c.length;
  }
  out.append(text, good);
  return 0;
}

}  // namespace vivace
