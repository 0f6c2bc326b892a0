#include "measure/serve_page.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "measure/engine_report.h"
#include "measure/page.h"
#include "measure/quantiles.h"
#include "measure/svg_plot.h"

namespace vivace {
namespace {

using Values = std::vector<double> ServeFigures::*;

// Lines of more servers look like the last one.
constexpr std::array kStyles = {"one", "two", "three", "four"};
std::string StyleOf(std::size_t server) { return kStyles[std::min(server, kStyles.size() - 1)]; }

std::string Key(const ServeReport& report) {
  std::string html = "<div class=\"key\">";
  for (std::size_t i = 0; i < report.servers.size(); ++i) {
    html += fmt::format("<b class=\"{}\">{}</b>", StyleOf(i),
                        HtmlEscape(report.servers[i].target.name));
  }
  return html + "</div>";
}

// One server's values as the share of them that is no larger, with marks at 50, 90 and 99 %.
void AddDistribution(const std::vector<double>& sorted, const std::string& name,
                     const std::string& style, std::vector<PlotSeries>& series) {
  constexpr int kSteps = 100;
  PlotSeries line = {.style = style, .points = {}, .line = true, .markers = false};
  for (int step = 0; step <= kSteps; ++step) {
    line.points.push_back(
        {.x = QuantileOf(sorted, static_cast<double>(step) / kSteps), .y = 100.0 * step / kSteps});
  }
  PlotSeries marks = {.style = style, .points = {}, .line = false};
  for (const double share : {0.5, 0.9, 0.99}) {
    const double value = QuantileOf(sorted, share);
    marks.points.push_back(
        {.x = value,
         .y = 100 * share,
         .tooltip = fmt::format("{}: {:.0f} % within {}", name, 100 * share, ShortNumber(value))});
  }
  series.push_back(std::move(line));
  series.push_back(std::move(marks));
}

// The distributions of all servers over one axis. `of` gives a server's values, sorted.
template <class Of>
std::string Distributions(const ServeReport& report, std::string_view name, std::string unit,
                          const Of& of) {
  std::vector<PlotSeries> series;
  std::vector<double> xs;
  for (std::size_t i = 0; i < report.servers.size(); ++i) {
    const std::vector<double>& sorted = of(report.servers[i]);
    if (sorted.empty()) continue;
    AddDistribution(sorted, report.servers[i].target.name, StyleOf(i), series);
    // Beyond 99.9 % one value would stretch the axis for all.
    xs.push_back(std::max(sorted.front(), 1e-3));
    xs.push_back(std::max(QuantileOf(sorted, 0.999), 1e-3));
  }
  if (series.empty()) return "<p>No answer.</p>";
  const PlotAxis y = {.title = "% of all", .min = 0, .max = 100, .ticks = {0, 25, 50, 75, 90, 100}};
  return SvgPlot(name, AxisFor(std::move(unit), true, xs), y, series) + Key(report);
}

// The median of each round: what is noise and what drifts.
std::string Rounds(const ServeReport& report) {
  std::vector<PlotSeries> series;
  std::vector<double> xs;
  std::vector<double> ys;
  for (std::size_t i = 0; i < report.servers.size(); ++i) {
    PlotSeries line = {.style = StyleOf(i), .points = {}};
    double round = 1;
    for (const double median : report.servers[i].all.round_first) {
      xs.push_back(round);
      ys.push_back(median);
      line.points.push_back(
          {.x = round,
           .y = median,
           .tooltip = fmt::format("{}, round {:.0f}: {} ms", report.servers[i].target.name, round,
                                  ShortNumber(median))});
      round += 1;
    }
    series.push_back(std::move(line));
  }
  if (xs.empty()) return "<p>No answer.</p>";
  const PlotAxis x = {
      .title = "round", .min = 0.5, .max = 0.5 + *std::max_element(xs.begin(), xs.end())};
  return SvgPlot("Median time to the first text by round", x, AxisFor("ms", false, ys), series) +
         Key(report);
}

// The median of every workload and server, servers beneath each other.
std::string Bars(const ServeReport& report, Values values) {
  std::vector<HtmlBar> bars;
  for (std::size_t workload = 0; workload < report.options.workloads.size(); ++workload) {
    for (std::size_t i = 0; i < report.servers.size(); ++i) {
      const ServeServer& server = report.servers[i];
      const Quantiles q = QuantilesOf(server.workloads[workload].*values);
      const std::string name =
          report.servers.size() > 1
              ? fmt::format("{}, {}", report.options.workloads[workload].name, server.target.name)
              : std::string(report.options.workloads[workload].name);
      bars.push_back({name, q.p50, ShortNumber(q.p50), StyleOf(i)});
    }
  }
  return HtmlBars(bars);
}

void AddRows(const ServeReport& report, const char* what, Values values,
             std::vector<std::vector<std::string>>& rows) {
  for (std::size_t workload = 0; workload < report.options.workloads.size(); ++workload) {
    for (const ServeServer& server : report.servers) {
      const ServeFigures& figures = server.workloads[workload];
      const Quantiles q = QuantilesOf(figures.*values);
      rows.push_back({std::string(report.options.workloads[workload].name), what,
                      server.target.name, ShortNumber(q.p50), ShortNumber(q.p90),
                      ShortNumber(q.p99), fmt::format("{:.2f}", q.tail()),
                      std::to_string(q.count)});
    }
  }
}

std::string Table(const ServeReport& report) {
  std::vector<std::vector<std::string>> rows = {
      {"workload", "", "server", "50 %", "90 %", "99 %", "99 % / 50 %", "values"}};
  AddRows(report, "first text, ms", &ServeFigures::first_ms, rows);
  AddRows(report, "between texts, ms", &ServeFigures::gap_ms, rows);
  AddRows(report, "whole answer, ms", &ServeFigures::whole_ms, rows);
  AddRows(report, "tokens/s", &ServeFigures::rates, rows);
  return HtmlTable(rows);
}

std::string Figures(const ServeReport& report) {
  std::string html = "<div class=\"figures\">\n";
  for (const ServeServer& server : report.servers) {
    const Quantiles first = QuantilesOf(server.all.first_ms);
    const Quantiles gap = QuantilesOf(server.all.gap_ms);
    html += HtmlFigure(server.target.name + ": first text", ShortNumber(first.p50), "ms",
                       "99 % within " + ShortNumber(first.p99));
    html += HtmlFigure(server.target.name + ": between texts", ShortNumber(gap.p50), "ms",
                       "99 % within " + ShortNumber(gap.p99));
  }
  return html + "</div>\n";
}

std::string Facts(const ServeReport& report) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const ServeServer& server : report.servers) {
    facts.emplace_back(
        server.target.name,
        fmt::format("{}, model {}; {} requests, {} failed; {} tokens (from {}); warm-up {} ms to "
                    "the first text; the client took {:.2f} % of a core",
                    server.target.url, server.target.model, server.all.requests, server.all.errors,
                    server.all.tokens, server.counted, ShortNumber(server.warm_up_first.p50),
                    server.client_cpu_pct));
  }
  const MachineFacts& machine = report.machine;
  facts.emplace_back("client", fmt::format("{}, {} processors, {}", machine.cpu.model,
                                           machine.cpu.cpus.size(), machine.system));
  facts.emplace_back("measured", fmt::format("{}, {} rounds in {:.0f} s, texts of seed {}",
                                             LoopText(report.options), report.options.rounds,
                                             report.seconds, report.options.seed));
  return HtmlFacts(facts);
}

std::string Cards(const ServeReport& report) {
  const auto all = [](Values values) {
    return [values](const ServeServer& server) -> const std::vector<double>& {
      return server.all.*values;
    };
  };
  std::string body;
  for (std::size_t i = 0; i < report.options.workloads.size(); ++i) {
    const Workload& workload = report.options.workloads[i];
    body +=
        HtmlCard(fmt::format("First text: {}", workload.name),
                 fmt::format("Share of answers whose first text came so soon: {}.", workload.what),
                 Distributions(report, fmt::format("Time to first text, {}", workload.name), "ms",
                               [i](const ServeServer& server) -> const std::vector<double>& {
                                 return server.workloads[i].first_ms;
                               }));
  }
  body += HtmlCard("Between texts", "Share of all gaps between two texts of one answer.",
                   Distributions(report, "Time between texts", "ms", all(&ServeFigures::gap_ms)));
  body += HtmlCard("Whole answers", "Share of answers that were complete so soon.",
                   Distributions(report, "Time to last text", "ms", all(&ServeFigures::whole_ms)));
  body += HtmlCard("Speed of answers", "Share of answers written with so many tokens/s or fewer.",
                   Distributions(report, "Tokens a second", "tokens/s", all(&ServeFigures::rates)));
  return body +
         HtmlCard("Rounds", "The median time to the first text, round by round.", Rounds(report));
}

}  // namespace

std::string ServePage(const ServeReport& report) {
  std::string names;
  for (const ServeServer& server : report.servers) {
    names += (names.empty() ? "" : " and ") + server.target.name;
  }
  std::string body =
      fmt::format("<h1>{}</h1>\n<p>{} on {}</p>\n", HtmlEscape(names),
                  HtmlEscape(LoopText(report.options)), HtmlEscape(report.machine.cpu.model));
  body += Figures(report) + "<div class=\"cards\">\n";
  body += HtmlCard("First text", "Median time to the first text, in ms: shorter is better.",
                   Bars(report, &ServeFigures::first_ms));
  body += HtmlCard("Tokens a second", "Median of an answer's speed: longer is better.",
                   Bars(report, &ServeFigures::rates));
  body += Cards(report) + "</div>\n<div class=\"cards\">\n";
  body += HtmlCard("All figures",
                   "Times are those of the client, from the moment a request was due; the first "
                   "round was not counted.",
                   Table(report), CardWidth::kWhole);
  body += HtmlCard("What was measured", "", Facts(report), CardWidth::kWhole);
  return HtmlPage(names + ": answers", body + "</div>\n");
}

}  // namespace vivace
