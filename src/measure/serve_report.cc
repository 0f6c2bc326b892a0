#include "measure/serve_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "machine/machine_json.h"
#include "measure/engine_report.h"

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

double Rounded(double value) { return std::round(1000 * value) / 1000; }

Json QuantilesJson(const Quantiles& values) {
  return {{"p50", Rounded(values.p50)},   {"p90", Rounded(values.p90)},
          {"p99", Rounded(values.p99)},   {"p99_p50", Rounded(values.tail())},
          {"min", Rounded(values.min)},   {"max", Rounded(values.max)},
          {"mean", Rounded(values.mean)}, {"count", values.count}};
}

Json QuantilesJson(const std::vector<double>& values) { return QuantilesJson(QuantilesOf(values)); }

Json FiguresJson(const ServeFigures& figures) {
  return {{"requests", figures.requests},
          {"errors", figures.errors},
          {"ttft_ms", QuantilesJson(figures.first_ms)},
          {"itl_ms", QuantilesJson(figures.gap_ms)},
          {"ttlt_ms", QuantilesJson(figures.whole_ms)},
          {"tok_s", QuantilesJson(figures.rates)},
          {"throughput_tok_s", Rounded(figures.tokens_per_second())},
          {"tokens", figures.tokens},
          {"chunks", figures.chunks},
          {"prompt_tokens", figures.prompt_tokens}};
}

const ServeFigures* Find(const ServeServer& server, std::string_view workload) {
  for (const ServeFigures& figures : server.workloads) {
    if (figures.name == workload) return &figures;
  }
  return nullptr;
}

Json ServerJson(const ServeReport& report, const ServeServer& server) {
  const ServeBenchOptions& options = report.options;
  Json json = {{"name", server.target.name},
               {"url", server.target.url},
               {"model", server.target.model},
               {"rounds", options.rounds},
               {"loop", options.rate > 0 ? "open" : "closed"},
               {"concurrency", options.concurrency},
               {"rate", options.rate},
               {"seed", options.seed},
               {"seconds", Rounded(report.seconds)},
               {"interrupted", report.interrupted},
               {"token_counts", server.counted},
               {"client_cpu_pct", Rounded(server.client_cpu_pct)},
               {"client_disturbs", server.disturbs()}};
  json.update(FiguresJson(server.all));
  const auto add_first = [&](const char* name, std::string_view workload) {
    const ServeFigures* figures = Find(server, workload);
    if (figures != nullptr) json[name] = QuantilesJson(figures->first_ms);
  };
  add_first("ttft_short_ms", "chat-short");
  add_first("ttft_600_ms", "long-prompt");
  if (Find(server, "chat-multi-turn") != nullptr)
    json["ttft_follow_ms"] = QuantilesJson(server.follow_first);
  json["warm_up"] = {{"ttft_ms", QuantilesJson(server.warm_up_first)}};
  json["problems"] = Json::array();
  for (const auto& [message, count] : server.problems) {
    json["problems"].push_back({{"message", message}, {"count", count}});
  }
  json["workloads"] = Json::array();
  for (const ServeFigures& figures : server.workloads) {
    Json one = {{"name", figures.name}};
    one.update(FiguresJson(figures));
    if (figures.name == "json") one["json_answers"] = figures.json_answers;
    json["workloads"].push_back(std::move(one));
  }
  json["machine"] = FactsJson(report.machine);
  return json;
}

constexpr int kCell = 34;

// "32.6  35.0  41.2  1.3": the median, 90 %, 99 %, and the last by the first.
std::string Cell(const std::vector<double>& values) {
  const Quantiles q = QuantilesOf(values);
  if (q.count == 0) return fmt::format("{:>{}}", "-", kCell);
  return fmt::format("{:>{}}",
                     fmt::format("{:>8}{:>8}{:>8}{:>6.1f}", ShortNumber(q.p50), ShortNumber(q.p90),
                                 ShortNumber(q.p99), q.tail()),
                     kCell);
}

struct Row {
  const char* name;
  std::vector<double> ServeFigures::*values;
  bool more_is_better;
};
constexpr Row kRows[] = {{"first text, ms", &ServeFigures::first_ms, false},
                         {"between texts, ms", &ServeFigures::gap_ms, false},
                         {"whole answer, ms", &ServeFigures::whole_ms, false},
                         {"tokens/s", &ServeFigures::rates, true}};

// How many times better the first server's median is than the last one's.
std::string RatioCell(const ServeReport& report, std::size_t workload, const Row& row) {
  if (report.servers.size() < 2) return "";
  const auto median = [&](const ServeServer& server) {
    return QuantilesOf(server.workloads[workload].*(row.values)).p50;
  };
  const double ours = median(report.servers.front());
  const double other = median(report.servers.back());
  if (ours <= 0 || other <= 0) return "";
  return fmt::format("{:>8.2f}", row.more_is_better ? ours / other : other / ours);
}

std::string WorkloadText(const ServeReport& report, std::size_t workload) {
  std::string text = fmt::format("\n{}: {}\n", report.options.workloads[workload].name,
                                 report.options.workloads[workload].what);
  for (const Row& row : kRows) {
    text += fmt::format("  {:<19}", row.name);
    for (const ServeServer& server : report.servers) {
      text += Cell(server.workloads[workload].*(row.values));
    }
    text += RatioCell(report, workload, row) + "\n";
  }
  return text;
}

std::string SummaryText(const ServeServer& server) {
  std::string text = fmt::format(
      "{}: {} requests, {} failed; {} tokens ({}), {} tokens/s in all; this program took {:.2f} % "
      "of a core\n",
      server.target.name, server.all.requests, server.all.errors, server.all.tokens,
      server.counted == "chunks" ? "counted as texts" : "as the server says",
      ShortNumber(server.all.tokens_per_second()), server.client_cpu_pct);
  if (server.disturbs()) {
    text += fmt::format(
        "  warning: that is more than {:g} % for 100 tokens/s, so this program may have slowed the "
        "server down\n",
        kMostClientCpuPct);
  }
  for (const auto& [message, count] : server.problems) {
    text += fmt::format("  {} time{}: {}\n", count, count == 1 ? "" : "s", message);
  }
  return text;
}

}  // namespace

std::string LoopText(const ServeBenchOptions& options) {
  if (options.rate > 0) return fmt::format("open loop, {:g} requests/s", options.rate);
  return fmt::format("closed loop, {} client{}", options.concurrency,
                     options.concurrency == 1 ? "" : "s");
}

Json ServeJson(const ServeReport& report) {
  Json list = Json::array();
  for (const ServeServer& server : report.servers) list.push_back(ServerJson(report, server));
  return list;
}

std::string ServeText(const ServeReport& report) {
  std::string text = fmt::format("{}, {} rounds, {:.0f} s{}\n\n{:<21}", LoopText(report.options),
                                 report.options.rounds, report.seconds,
                                 report.interrupted ? ", interrupted" : "", "");
  for (const ServeServer& server : report.servers) {
    text += fmt::format("{:>{}}", server.target.name.substr(0, kCell - 2), kCell);
  }
  text += report.servers.size() > 1 ? "  times better\n" : "\n";
  text += fmt::format("{:<21}", "");
  for (std::size_t i = 0; i < report.servers.size(); ++i) {
    text += fmt::format("{:>{}}", "     50 %    90 %    99 %  tail", kCell);
  }
  text += "\n";
  for (std::size_t i = 0; i < report.options.workloads.size(); ++i) {
    text += WorkloadText(report, i);
  }
  text += "\n";
  for (const ServeServer& server : report.servers) text += SummaryText(server);
  return text;
}

}  // namespace vivace
