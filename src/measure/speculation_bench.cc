#include "measure/speculation_bench.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace vivace {
namespace {

void Add(const GenerateResult& plain, const GenerateResult& drafts, SpeculationSum& sum) {
  ++sum.answers;
  sum.tokens += std::max<std::int64_t>(plain.timings.decoded_tokens - 1, 0);
  sum.plain_ms += plain.timings.decode_ms;
  sum.drafts_ms += drafts.timings.decode_ms;
  sum.drafted += drafts.timings.drafted_tokens;
  sum.accepted += drafts.timings.accepted_tokens;
}

}  // namespace

bool RepeatsItself(std::span<const TokenId> tokens) {
  constexpr std::size_t kRun = 24;
  std::map<std::vector<TokenId>, int> runs;
  for (std::size_t i = 0; i + kRun <= tokens.size(); ++i) {
    const auto run = tokens.subspan(i, kRun);
    if (++runs[{run.begin(), run.end()}] > 2) return true;
  }
  return false;
}

Result<std::vector<SpeculationPoint>> RunSpeculationBench(
    Generator& generator, std::span<const SpeculationWork> work, std::int64_t tokens,
    const std::function<void(double, std::string_view)>& progress) {
  std::vector<SpeculationPoint> points;
  std::size_t all = 0;
  for (const SpeculationWork& kind : work) all += kind.prompts.size();
  std::size_t done = 0;
  bool drafts_first = false;
  for (const SpeculationWork& kind : work) {
    SpeculationPoint& point = points.emplace_back();
    point.name = kind.name;
    for (const std::vector<TokenId>& prompt : kind.prompts) {
      progress(static_cast<double>(done++) / static_cast<double>(all), kind.name);
      GenerateRequest request = {.prompt = prompt, .max_tokens = tokens};
      request.sampling.temperature = 0;
      // Whoever comes second finds the prompt in the cache, and the processor as it was left.
      drafts_first = !drafts_first;
      GenerateResult results[2];
      for (const bool with : {drafts_first, !drafts_first}) {
        request.speculation = with;
        auto result = generator.Generate(request, {}, [](std::string_view) {});
        if (!result) return Failure(std::move(result).error());
        results[with ? 1 : 0] = std::move(*result);
      }
      if (results[0].tokens != results[1].tokens) {
        return Fail(ErrorKind::kBadInput,
                    fmt::format("{}: an answer is another one with drafts", kind.name));
      }
      Add(results[0], results[1], point.all);
      if (!RepeatsItself(results[0].tokens)) Add(results[0], results[1], point.plain);
    }
  }
  return points;
}

}  // namespace vivace
