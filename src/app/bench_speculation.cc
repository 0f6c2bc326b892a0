#include "app/bench_speculation.h"

#include <iostream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/progress.h"
#include "chat/prompt.h"
#include "measure/speculation_bench.h"
#include "measure/speculation_prompts.h"

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

Result<std::vector<SpeculationWork>> WorkFor(const Model& model) {
  const auto chat = OpenChatTemplate(model, "");
  if (!chat) return Failure(chat.error());
  std::vector<SpeculationWork> work;
  for (const SpeculationClass& kind : SpeculationClasses()) {
    SpeculationWork& of_kind = work.emplace_back();
    of_kind.name = kind.name;
    for (const std::string& text : kind.prompts) {
      auto prompt =
          ChatPrompt(model, *chat, {.messages = {{.role = "user", .content = text}}, .tools = {}});
      if (!prompt) return Failure(std::move(prompt).error());
      of_kind.prompts.push_back(std::move(*prompt));
    }
  }
  return work;
}

double PerSecond(std::int64_t tokens, double ms) {
  return ms > 0 ? 1000.0 * static_cast<double>(tokens) / ms : 0;
}

Json SumJson(const SpeculationSum& sum) {
  return {{"answers", sum.answers},
          {"tokens", sum.tokens},
          {"plain_tok_s", PerSecond(sum.tokens, sum.plain_ms)},
          {"drafts_tok_s", PerSecond(sum.tokens, sum.drafts_ms)},
          {"ratio", sum.ratio()},
          {"drafted", sum.drafted},
          {"accepted", sum.accepted}};
}

void PrintTable(const std::vector<SpeculationPoint>& points) {
  fmt::print("{:<8}{:>9}{:>14}{:>14}{:>8}{:>10}{:>10}{:>20}\n", "class", "answers", "plain tok/s",
             "drafts tok/s", "ratio", "drafted", "accepted", "without loops");
  for (const SpeculationPoint& point : points) {
    const SpeculationSum& all = point.all;
    fmt::print("{:<8}{:>9}{:>14.1f}{:>14.1f}{:>8.2f}{:>10}{:>10}{:>13} of {:<3}\n", point.name,
               all.answers, PerSecond(all.tokens, all.plain_ms),
               PerSecond(all.tokens, all.drafts_ms), all.ratio(), all.drafted, all.accepted,
               fmt::format("{:.2f}", point.plain.ratio()), point.plain.answers);
  }
}

}  // namespace

Result<int> BenchSpeculation(const SessionFlags& flags, std::int64_t tokens, bool json) {
  auto session = Session::Open(flags);
  if (!session) return Failure(std::move(session).error());
  const auto work = WorkFor((*session)->model());
  if (!work) return Failure(work.error());
  ProgressLine progress;
  const auto points =
      RunSpeculationBench((*session)->generator(), *work, tokens,
                          [&](double share, std::string_view what) { progress.Show(share, what); });
  progress.Wipe();
  if (!points) return Failure(points.error());
  if (!json) {
    PrintTable(*points);
    return 0;
  }
  Json classes = Json::array();
  for (const SpeculationPoint& point : *points) {
    classes.push_back({{"class", point.name},
                       {"all", SumJson(point.all)},
                       {"without_loops", SumJson(point.plain)}});
  }
  const Json page = {{"model", (*session)->name()},
                     {"threads", (*session)->threads()},
                     {"kernels", (*session)->model().kernels().name},
                     {"tokens", tokens},
                     {"classes", classes}};
  std::cout << page.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  return 0;
}

}  // namespace vivace
