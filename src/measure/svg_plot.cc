#include "measure/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace vivace {
namespace {

// In units of the view box, which the page scales to its width.
constexpr double kWidth = 400;
constexpr double kHeight = 280;
constexpr double kLeft = 46;
constexpr double kRight = 14;
constexpr double kTop = 26;
constexpr double kBottom = 42;

std::string TickText(double value) {
  if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:g}", value);
}

// Where a value lies on the axis: 0 at min, 1 at max.
double Share(const PlotAxis& axis, double value) {
  const double share = axis.logarithmic ? std::log(std::max(value, axis.min * 1e-3) / axis.min) /
                                              std::log(axis.max / axis.min)
                                        : (value - axis.min) / (axis.max - axis.min);
  return std::clamp(share, 0.0, 1.0);
}

std::vector<double> LogarithmicTicks(const PlotAxis& axis) {
  constexpr std::size_t kMost = 100;
  // Over several decades 2 and 5 would crowd.
  const bool all = std::log10(axis.max / axis.min) < 2.5;
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(axis.min))); ticks.size() < kMost;
       ++power) {
    for (const int digit : {1, 2, 5}) {
      const double tick = digit * std::pow(10, power);
      if (tick > axis.max * 1.0001) return ticks;
      if (tick >= axis.min * 0.9999 && (digit == 1 || all)) ticks.push_back(tick);
    }
  }
  return ticks;
}

std::vector<double> LinearTicks(const PlotAxis& axis, int wanted) {
  const double rough = (axis.max - axis.min) / std::max(wanted, 1);
  double step = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (step < rough * (1 - 1e-9)) step *= factor;  // 1, 2, 5, 10
  }
  std::vector<double> ticks;
  const auto last = static_cast<std::int64_t>(std::floor(axis.max / step + 1e-6));
  for (auto index = static_cast<std::int64_t>(std::ceil(axis.min / step - 1e-6)); index <= last;
       ++index) {
    ticks.push_back(static_cast<double>(index) * step);
  }
  return ticks;
}

class Canvas {
 public:
  Canvas(const PlotAxis& x, const PlotAxis& y) : x_(x), y_(y) {}

  double Left(double x) const { return kLeft + Share(x_, x) * (kWidth - kLeft - kRight); }
  double Top(double y) const {
    return kHeight - kBottom - Share(y_, y) * (kHeight - kTop - kBottom);
  }

  void Line(const char* style, double x1, double y1, double x2, double y2) {
    svg_ += fmt::format(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
                        style, x1, y1, x2, y2);
  }
  void Text(const char* style, double x, double y, std::string_view text) {
    svg_ += fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>)", style, x, y,
                        HtmlEscape(text));
  }

  void Axes() {
    for (const double tick : y_.ticks.empty() ? NiceTicks(y_, 5) : y_.ticks) {
      Line("grid", kLeft, Top(tick), kWidth - kRight, Top(tick));
      Text("tick end", kLeft - 6, Top(tick) + 4, TickText(tick));
    }
    double free_from = 0;
    for (const double tick : x_.ticks.empty() ? NiceTicks(x_, 6) : x_.ticks) {
      const std::string text = TickText(tick);
      const double width = 7.5 * static_cast<double>(text.size()) + 8;
      Line("grid", Left(tick), kTop, Left(tick), kHeight - kBottom);
      // A label that would touch the one before it is left out.
      if (Left(tick) - width / 2 < free_from) continue;
      free_from = Left(tick) + width / 2;
      Text("tick middle", Left(tick), kHeight - kBottom + 16, text);
    }
    Text("axis middle", (kLeft + kWidth - kRight) / 2, kHeight - 6, x_.title);
    Text("axis", 4, 14, y_.title);
  }

  void Series(const PlotSeries& series) {
    if (series.line) {
      std::string points;
      for (const PlotPoint& point : series.points) {
        points += fmt::format("{:.1f},{:.1f} ", Left(point.x), Top(point.y));
      }
      svg_ += fmt::format(R"(<polyline class="{}" points="{}"/>)", series.style, points);
    }
    if (!series.markers) return;
    for (const PlotPoint& point : series.points) {
      const double left = Left(point.x);
      if (point.low < point.high) Line("range", left, Top(point.low), left, Top(point.high));
      svg_ += fmt::format(
          R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="4"><title>{}</title></circle>)",
          series.style, left, Top(point.y), HtmlEscape(point.tooltip));
      if (!point.label.empty()) Label(point);
    }
  }

  std::string svg_;

 private:
  struct Box {
    double left, top, right, bottom;
  };
  static bool Touch(const Box& a, const Box& b) {
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  }

  // Above the point and its range, else below it, inside the picture; left out where other
  // labels are in the way: the tooltip has it.
  void Label(const PlotPoint& point) {
    const double half = 4.0 * static_cast<double>(point.label.size());
    const double middle = std::clamp(Left(point.x), half + 2, kWidth - half - 2);
    const double above = Top(std::max(point.y, point.high)) - 9;
    const double below = Top(std::min(point.y, point.low > 0 ? point.low : point.y)) + 19;
    for (const double baseline : {above, below}) {
      const Box box = {middle - half, baseline - 11, middle + half, baseline + 3};
      const auto in_the_way = [&](const Box& other) { return Touch(box, other); };
      if (box.top < 0 || box.bottom > kHeight - kBottom) continue;
      if (std::any_of(labels_.begin(), labels_.end(), in_the_way)) continue;
      labels_.push_back(box);
      Text("label middle", middle, baseline, point.label);
      return;
    }
  }

  std::vector<Box> labels_;
  const PlotAxis& x_;
  const PlotAxis& y_;
};

}  // namespace

std::string HtmlEscape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<double> NiceTicks(const PlotAxis& axis, int wanted) {
  return axis.logarithmic ? LogarithmicTicks(axis) : LinearTicks(axis, wanted);
}

PlotAxis AxisFor(std::string title, bool logarithmic, const std::vector<double>& values) {
  PlotAxis axis = {.title = std::move(title), .logarithmic = logarithmic};
  double least = 0;
  double most = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) continue;
    least = least == 0 ? value : std::min(least, value);
    most = std::max(most, value);
  }
  if (most == 0) return {.title = axis.title, .logarithmic = logarithmic, .min = 1, .max = 10};
  if (!logarithmic) {
    axis.min = 0;
    axis.max = 1.15 * most;
    return axis;
  }
  axis.min = least / 1.3;
  axis.max = most * 1.3;
  return axis;
}

std::string SvgPlot(std::string_view name, const PlotAxis& x, const PlotAxis& y,
                    const std::vector<PlotSeries>& series) {
  Canvas canvas(x, y);
  canvas.Axes();
  for (const PlotSeries& one : series) canvas.Series(one);
  return fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>)", kWidth,
                     kHeight, HtmlEscape(name), canvas.svg_);
}

}  // namespace vivace
