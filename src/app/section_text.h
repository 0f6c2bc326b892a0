// SectionText: text in two columns: names of sections, and lines beside them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vivace {

class SectionText {
 public:
  SectionText(bool bold, std::size_t columns) : bold_(bold), columns_(columns) {}

  // The first line of a section, and its further ones.
  void Section(std::string_view name, std::string_view line);
  void Line(std::string_view line) { Section("", line); }
  // Words wrapped at the last column, behind a mark.
  void Paragraph(std::string_view name, std::string_view mark, std::string_view words);

  const std::string& text() const { return text_; }

 private:
  bool bold_;
  std::size_t columns_;
  std::string text_;
};

}  // namespace vivace
