#include "measure/engine_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "measure/page.h"
#include "measure/svg_plot.h"

namespace vivace {
namespace {

constexpr double kGiga = 1e9;

std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string Range(const Spread& spread, double scale = 1) {
  return fmt::format("{} to {}", ShortNumber(spread.min / scale), ShortNumber(spread.max / scale));
}

Limit MedianLimit(const EngineBenchResult& result) {
  return {.bytes = result.read.median, .products = result.peak.median};
}

double Intensity(const Work& work) { return work.products / work.bytes; }

PlotPoint OnRoofline(const WorkPoint& point, std::string label) {
  std::string tooltip =
      fmt::format("{}: {} GMAC/s, {} of the limit", label,
                  ShortNumber(point.products.median / kGiga), Percent(point.limit_share.median));
  return {.x = Intensity(point.work),
          .y = point.products.median / kGiga,
          .low = point.products.min / kGiga,
          .high = point.products.max / kGiga,
          .label = std::move(label),
          .tooltip = std::move(tooltip)};
}

std::string Roofline(const EngineBenchResult& result) {
  PlotSeries points = {.style = "measured", .points = {}, .line = false};
  // The first to be labelled is the most important.
  points.points.push_back(OnRoofline(result.answer(), "answer"));
  points.points.push_back(
      OnRoofline(result.prompt(), fmt::format("prompt {}", result.prompt().size)));
  for (const WorkPoint& batch : result.batches) {
    if (batch.size > 1)
      points.points.push_back(OnRoofline(batch, fmt::format("{} answers", batch.size)));
  }
  for (const WorkPoint& prompt : result.prompts) {
    // Longer prompts are cut into the same chunks and would hide one another.
    if (prompt.size >= result.prompt().size) continue;
    points.points.push_back(OnRoofline(prompt, fmt::format("prompt {}", prompt.size)));
  }
  const Limit limit = MedianLimit(result);
  const double ridge = limit.products / limit.bytes;
  std::vector<double> xs = {ridge};
  std::vector<double> ys = {limit.products / kGiga};
  for (const PlotPoint& point : points.points) {
    xs.push_back(point.x);
    ys.push_back(point.y);
  }
  PlotAxis x = AxisFor("products per byte read", true, xs);
  PlotAxis y = AxisFor("GMAC/s", true, ys);
  x.max *= 1.6;
  x.min /= 1.2;
  y.max *= 1.6;
  const auto corner = [&](double at) {
    return PlotPoint{.x = at, .y = std::min(limit.products, at * limit.bytes) / kGiga};
  };
  y.min = std::min(y.min, corner(x.min).y);
  const PlotSeries roof = {.style = "limit",
                           .points = {corner(x.min), corner(ridge), corner(x.max)},
                           .line = true,
                           .markers = false};
  return SvgPlot("Roofline: products a second against products per byte", x, y, {roof, points});
}

// Measured tokens a second over size, and what the limits of the same rounds allow.
std::string SpeedPlot(std::string_view name, std::string size_title,
                      const std::vector<WorkPoint>& points) {
  PlotSeries measured = {.style = "measured", .points = {}};
  PlotSeries limit = {.style = "limit", .points = {}, .line = true, .markers = false};
  std::vector<double> xs;
  std::vector<double> ys;
  for (const WorkPoint& point : points) {
    const auto size = static_cast<double>(point.size);
    const double share = point.limit_share.median;
    measured.points.push_back(
        {.x = size,
         .y = point.tokens.median,
         .low = point.tokens.min,
         .high = point.tokens.max,
         .label = Percent(share),
         .tooltip = fmt::format("{}: {} tokens/s, {} of the limit", point.size,
                                ShortNumber(point.tokens.median), Percent(share))});
    limit.points.push_back({.x = size, .y = share > 0 ? point.tokens.median / share : 0});
    xs.push_back(size);
    ys.push_back(std::max(point.tokens.max, limit.points.back().y));
  }
  PlotAxis x = AxisFor(std::move(size_title), true, xs);
  x.ticks = xs;
  return SvgPlot(name, x, AxisFor("tokens/s", false, ys), {limit, measured}) +
         "<div class=\"key\"><b>measured, with its range</b><b class=\"limit\">the machine's "
         "limit</b></div>";
}

std::vector<std::string> TableRow(std::string name, const WorkPoint& point) {
  return {std::move(name),
          ShortNumber(point.tokens.median),
          Range(point.tokens),
          ShortNumber(point.bytes.median / kGiga),
          ShortNumber(point.products.median / kGiga),
          Percent(point.limit_share.median),
          std::to_string(point.samples)};
}

std::string Table(const EngineBenchResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"", "tokens/s", "range", "GB/s", "GMAC/s", "of limit", "samples"}};
  for (const WorkPoint& point : result.prompts) {
    rows.push_back(TableRow(fmt::format("prompt of {}", point.size), point));
  }
  for (const WorkPoint& point : result.contexts) {
    rows.push_back(TableRow(fmt::format("answer after {}", point.size), point));
  }
  for (const WorkPoint& point : result.batches) {
    rows.push_back(TableRow(
        fmt::format("{} answer{} at once", point.size, point.size == 1 ? "" : "s"), point));
  }
  return HtmlTable(rows);
}

std::string CacheSize(std::int64_t bytes) {
  if (bytes == 0) return "unknown";
  return bytes < 1 << 20 ? fmt::format("{} kB", bytes >> 10) : fmt::format("{} MB", bytes >> 20);
}

std::string MachineTable(const EngineReport& report) {
  const MachineFacts& machine = report.machine;
  const EngineBenchResult& result = report.result;
  return HtmlFacts(
      {{"processor",
        machine.cpu.model +
            (machine.hypervisor.empty() ? "" : ", virtual (" + machine.hypervisor + ")")},
       {"processors", fmt::format("{}, {} threads used", machine.cpu.cpus.size(), report.threads)},
       {"caches", fmt::format("L1 {}, L2 {}, L3 {}", CacheSize(machine.cpu.l1d_bytes),
                              CacheSize(machine.cpu.l2_bytes), CacheSize(machine.cpu.l3_bytes))},
       {"instructions", IsaFlagNames(machine.isa)},
       {"kernels", report.kernels},
       {"memory", fmt::format("{:.1f} GB", static_cast<double>(machine.memory.total) / kGiga)},
       {"huge pages", machine.huge_pages.mode.empty() ? "unknown" : machine.huge_pages.mode},
       {"system", machine.system},
       {"plain read", fmt::format("{} GB/s of memory, {} GB/s of the weights ({} in huge pages)",
                                  ShortNumber(result.read_memory.median / kGiga),
                                  ShortNumber(result.read_weights.median / kGiga),
                                  Percent(result.weights_huge_share))},
       {"model",
        fmt::format("{}; a token reads {:.0f} MB of layers, {:.0f} of {:.0f} MB of the output "
                    "matrix, {:.1f} kB for each position",
                    report.architecture, static_cast<double>(report.work.layer_bytes) / 1e6,
                    result.answer().output_bytes / result.answer().work.tokens / 1e6,
                    static_cast<double>(report.work.output_bytes) / 1e6,
                    static_cast<double>(report.work.position_bytes) / 1e3)},
       {"measured", fmt::format("{} rounds in {:.0f} s, prompts {} tokens at a time", result.rounds,
                                result.seconds, report.options.prompt_chunk)}});
}

std::string Figures(const EngineReport& report) {
  const EngineBenchResult& result = report.result;
  const WorkPoint& prompt = result.prompt();
  const WorkPoint& answer = result.answer();
  return "<div class=\"figures\">\n" +
         HtmlFigure(fmt::format("Prompt of {} tokens", prompt.size),
                    ShortNumber(prompt.tokens.median), "tokens/s",
                    Percent(prompt.peak_share.median) + " of the int8 peak") +
         HtmlFigure(fmt::format("Answer after {} tokens", answer.size),
                    ShortNumber(answer.tokens.median), "tokens/s",
                    Percent(answer.read_share.median) + " of the read speed") +
         HtmlFigure("Memory is read at", ShortNumber(result.read.median / kGiga), "GB/s",
                    "range " + Range(result.read, kGiga)) +
         HtmlFigure("int8 products", ShortNumber(result.peak.median / kGiga), "GMAC/s",
                    "range " + Range(result.peak, kGiga)) +
         "</div>\n";
}

}  // namespace

std::string EnginePage(const EngineReport& report) {
  const EngineBenchResult& result = report.result;
  std::string body =
      fmt::format("<h1>{}</h1>\n<p>on {} · {} kernels · {} thread{}</p>\n",
                  HtmlEscape(report.model), HtmlEscape(report.machine.cpu.model),
                  HtmlEscape(report.kernels), report.threads, report.threads == 1 ? "" : "s");
  body += Figures(report) + "<div class=\"cards\">\n";
  body += HtmlCard("Roofline",
                   "The dashed line is what this machine allows: reading on the slope, int8 "
                   "products on the flat part.",
                   Roofline(result));
  body += HtmlCard("Prompts", "Tokens read a second, by the length of the prompt.",
                   SpeedPlot("Prompt speed by length", "tokens of the prompt", result.prompts));
  body += HtmlCard("Answers", "Tokens written a second, by the context they follow.",
                   SpeedPlot("Answer speed by context", "positions of context", result.contexts));
  body +=
      HtmlCard("Answers together", "Tokens written a second by all sequences that share one pass.",
               SpeedPlot("Speed by number of sequences", "sequences", result.batches));
  body += "</div>\n<div class=\"cards\">\n";
  body += HtmlCard("All figures",
                   "Medians over rounds. GB/s counts weights, keys and values; GMAC/s counts the "
                   "weight matrices. Shares are of the limit measured in the same round.",
                   Table(result), CardWidth::kWhole);
  body += HtmlCard("Machine", "What it was measured on.", MachineTable(report), CardWidth::kWhole);
  return HtmlPage(report.model + ": speed", body + "</div>\n");
}

}  // namespace vivace
