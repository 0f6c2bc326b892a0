// Text without the white space around it.
#pragma once

#include <string_view>

namespace vivace {

// The text without the characters of `space` at both ends: a part of what was given.
constexpr std::string_view Trimmed(std::string_view text, std::string_view space = " \t\r\n") {
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

}  // namespace vivace
