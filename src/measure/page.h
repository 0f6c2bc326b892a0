// A page of figures and plots as one self-contained file: no script, no request, light and
// dark by the reader's system, readable on a phone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vivace {

// Around a body that is already HTML.
std::string HtmlPage(std::string_view title, std::string_view body);

// A plot or table with a heading and a sentence; all but the HTML is escaped.
enum class CardWidth : std::uint8_t { kHalf, kWhole };  // of the page, where that is wide
std::string HtmlCard(std::string_view heading, std::string_view sentence, std::string_view html,
                     CardWidth width = CardWidth::kHalf);

// One large number: what it is, the number with its unit, and a line below.
std::string HtmlFigure(std::string_view name, std::string_view number, std::string_view unit,
                       std::string_view below);

// Rows of cells; the first row is the header.
std::string HtmlTable(const std::vector<std::vector<std::string>>& rows);

// Bars of the same unit, the longest filling the width.
struct HtmlBar {
  std::string name;
  double value = 0;
  std::string text;        // the value for people
  std::string style = {};  // a class: "one" to "four"; "": as "one"
};
std::string HtmlBars(const std::vector<HtmlBar>& bars);

// Names with their values.
std::string HtmlFacts(const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace vivace
