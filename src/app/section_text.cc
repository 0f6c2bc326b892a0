#include "app/section_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace vivace {
namespace {

constexpr std::size_t kNameColumns = 12;

}  // namespace

void SectionText::Section(std::string_view name, std::string_view line) {
  const std::string padding(kNameColumns - std::min(kNameColumns, name.size()), ' ');
  const bool bold = bold_ && !name.empty();
  text_ += fmt::format("{}{}{}{}{}\n", bold ? "\033[1m" : "", name, bold ? "\033[0m" : "", padding,
                       line);
}

void SectionText::Paragraph(std::string_view name, std::string_view mark, std::string_view words) {
  const std::size_t width = columns_ - kNameColumns - mark.size();
  const std::string indent(mark.size(), ' ');
  bool first = true;
  while (!words.empty()) {
    std::size_t end = words.size();
    if (end > width) {
      end = words.rfind(' ', width);
      if (end == std::string_view::npos || end == 0) end = width;
    }
    Section(first ? name : "", fmt::format("{}{}", first ? mark : indent, words.substr(0, end)));
    words.remove_prefix(std::min(words.size(), end + (end < words.size() && words[end] == ' ')));
    first = false;
  }
}

}  // namespace vivace
