#include "measure/page.h"

#include <algorithm>

#include <fmt/format.h>

#include "measure/svg_plot.h"

namespace vivace {
namespace {

// Measured is blue, limits are orange: told apart by every kind of sight.
constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --text: #1a1d21; --soft: #5b6470;
  --line: #e1e5ea; --measured: #1f6feb; --limit: #c2570c; --third: #1a7f37; --fourth: #8250df; }
@media (prefers-color-scheme: dark) { :root { --ground: #101317; --card: #191d23; --text: #e8ebef;
  --soft: #9aa4b1; --line: #2c333c; --measured: #6cb0ff; --limit: #ff9b54; --third: #56d364;
  --fourth: #c297ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 28px 16px 48px; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 2px; }
p { margin: 0 0 12px; color: var(--soft); }
.figures, .cards { display: grid; gap: 14px; margin: 18px 0; }
.figures { grid-template-columns: repeat(auto-fit, minmax(min(100%, 158px), 1fr)); }
.cards { grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); }
.figure, .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 16px; min-width: 0; }
@media (min-width: 900px) { .figures { grid-template-columns: repeat(4, 1fr); } }
.card.wide { grid-column: 1 / -1; }
.card p { font-size: .9rem; }
.figure .name, .figure .below { color: var(--soft); font-size: .9rem; }
.figure .number { font-size: 1.9rem; font-weight: 650; line-height: 1.2;
  font-variant-numeric: tabular-nums; }
.figure .unit { font-size: 1rem; font-weight: 400; color: var(--soft); }
svg { display: block; width: 100%; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: var(--soft); }
svg .label { fill: var(--text); font-weight: 600; paint-order: stroke; stroke: var(--card);
  stroke-width: 4px; stroke-linejoin: round; }
svg .middle { text-anchor: middle; }
svg .end { text-anchor: end; }
svg line.grid { stroke: var(--line); }
svg line.range { stroke: var(--measured); stroke-width: 2; opacity: .45; }
svg polyline { fill: none; stroke-width: 2; }
svg polyline.measured { stroke: var(--measured); }
svg polyline.limit { stroke: var(--limit); stroke-dasharray: 5 4; }
svg circle.measured { fill: var(--measured); }
svg polyline.one { stroke: var(--measured); } svg circle.one { fill: var(--measured); }
svg polyline.two { stroke: var(--limit); stroke-dasharray: 7 4; } svg circle.two { fill: var(--limit); }
svg polyline.three { stroke: var(--third); stroke-dasharray: 2 3; }
svg circle.three { fill: var(--third); }
svg polyline.four { stroke: var(--fourth); stroke-dasharray: 9 3 2 3; }
svg circle.four { fill: var(--fourth); }
.key { font-size: .85rem; color: var(--soft); margin-top: 8px; }
.key b { font-weight: 400; padding-right: 14px; }
.key b::before { content: ""; display: inline-block; width: 18px; margin-right: 6px;
  vertical-align: middle; border-top: 3px solid var(--measured); }
.key b.limit::before, .key b.two::before { border-top: 3px dashed var(--limit); }
.key b.three::before { border-top: 3px dotted var(--third); }
.key b.four::before { border-top: 3px dashed var(--fourth); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums;
  font-size: .9rem; }
th, td { text-align: right; padding: 5px 8px; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { font-weight: 600; color: var(--soft); }
th:first-child, td:first-child { text-align: left; }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: 6px 12px;
  align-items: center; font-size: .9rem; font-variant-numeric: tabular-nums; }
.bars span:nth-child(3n) { text-align: right; }
.bars i { display: block; height: 12px; border-radius: 3px; background: var(--measured); }
.bars i.two { background: var(--limit); } .bars i.three { background: var(--third); }
.bars i.four { background: var(--fourth); }
ul { margin: 0; padding-left: 20px; }
li { margin: 4px 0; }
li.warning { color: var(--limit); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0;
  font-size: .9rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
)css";

}  // namespace

std::string HtmlPage(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n<main>\n{}</main>\n</html>\n",
      HtmlEscape(title), kStyle, body);
}

std::string HtmlCard(std::string_view heading, std::string_view sentence, std::string_view html,
                     CardWidth width) {
  return fmt::format("<section class=\"card{}\">\n<h2>{}</h2>\n<p>{}</p>\n{}\n</section>\n",
                     width == CardWidth::kWhole ? " wide" : "", HtmlEscape(heading),
                     HtmlEscape(sentence), html);
}

std::string HtmlFigure(std::string_view name, std::string_view number, std::string_view unit,
                       std::string_view below) {
  return fmt::format(
      "<div class=\"figure\"><div class=\"name\">{}</div><div class=\"number\">{} "
      "<span class=\"unit\">{}</span></div><div class=\"below\">{}</div></div>\n",
      HtmlEscape(name), HtmlEscape(number), HtmlEscape(unit), HtmlEscape(below));
}

std::string HtmlTable(const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"scroll\"><table>\n";
  for (const auto& row : rows) {
    const char* cell = &row == rows.data() ? "th" : "td";
    html += "<tr>";
    for (const std::string& text : row)
      html += fmt::format("<{0}>{1}</{0}>", cell, HtmlEscape(text));
    html += "</tr>\n";
  }
  return html + "</table></div>";
}

std::string HtmlBars(const std::vector<HtmlBar>& bars) {
  double most = 0;
  for (const HtmlBar& bar : bars) most = std::max(most, bar.value);
  std::string html = "<div class=\"bars\">\n";
  for (const HtmlBar& bar : bars) {
    html += fmt::format(
        "<span>{}</span><span><i class=\"{}\" style=\"width:{:.1f}%\"></i></span><span>{}</span>\n",
        HtmlEscape(bar.name), bar.style, most > 0 ? 100 * bar.value / most : 0,
        HtmlEscape(bar.text));
  }
  return html + "</div>";
}

std::string HtmlFacts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string html = "<dl>\n";
  for (const auto& [name, value] : facts) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", HtmlEscape(name), HtmlEscape(value));
  }
  return html + "</dl>";
}

}  // namespace vivace
