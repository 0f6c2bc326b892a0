// SvgPlot: small plots as inline SVG, styled by the page's style sheet (page.cc): classes
// only, no colours, so that they follow light and dark.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vivace {

// &, <, > and quotes as entities.
std::string HtmlEscape(std::string_view text);

struct PlotAxis {
  std::string title;
  bool logarithmic = false;
  double min = 0;
  double max = 1;
  std::vector<double> ticks = {};  // empty: chosen
};

struct PlotPoint {
  double x = 0;
  double y = 0;
  double low = 0;  // with `high` the range of y; no bar where both are equal
  double high = 0;
  std::string label = {};    // beside the point where there is room; earlier points first
  std::string tooltip = {};  // shown by the browser
};

struct PlotSeries {
  std::string style;  // a class: "measured", "limit"
  std::vector<PlotPoint> points;
  bool line = true;
  bool markers = true;
};

// Ticks of 1, 2 or 5 times a power of ten within [min, max]; about `wanted` on a linear
// axis, on a logarithmic one all that do not crowd.
std::vector<double> NiceTicks(const PlotAxis& axis, int wanted);

// The range of values as an axis: from 0 on a linear one, room above the largest.
PlotAxis AxisFor(std::string title, bool logarithmic, const std::vector<double>& values);

// `name` is read to those who cannot see it. Points outside the axes are moved to the edge.
std::string SvgPlot(std::string_view name, const PlotAxis& x, const PlotAxis& y,
                    const std::vector<PlotSeries>& series);

}  // namespace vivace
