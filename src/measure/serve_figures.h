// ServeFigures: a server benchmark's samples as figures: of each workload, and in all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "measure/quantiles.h"
#include "measure/serve_bench.h"

namespace vivace {

struct ServeFigures {
  std::string name;                 // of the workload; "all"
  std::vector<double> first_ms;     // of each answer, sorted as are the next three
  std::vector<double> gap_ms;       // between two texts, of all answers
  std::vector<double> whole_ms;     // until the last text
  std::vector<double> rates;        // tokens a second of each answer
  std::vector<double> round_first;  // the median of first_ms of each round, in their order
  std::int64_t requests = 0;
  std::int64_t errors = 0;
  std::int64_t tokens = 0;
  std::int64_t chunks = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t json_answers = 0;  // that are a JSON value
  double seconds = 0;             // that its batches took

  // Of all clients together.
  double tokens_per_second() const {
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
  }
};

// Of a core, up to 100 tokens a second, and as much more at more: beyond that this program
// disturbs what it measures.
inline constexpr double kMostClientCpuPct = 2;

struct ServeServer {
  ServeTarget target;
  ServeFigures all;
  std::vector<ServeFigures> workloads;                         // as the options order them
  Quantiles warm_up_first;                                     // of the warm-up's answers
  std::vector<double> follow_first;                            // of turns after the first, sorted
  std::vector<std::pair<std::string, std::int64_t>> problems;  // sentences, how often
  std::string counted;        // where token counts are from, "mixed" if not all are alike
  double client_cpu_pct = 0;  // of one core, what this program took meanwhile

  bool disturbs() const {
    return client_cpu_pct > kMostClientCpuPct * std::max(1.0, all.tokens_per_second() / 100);
  }
};

std::vector<ServeServer> FiguresOf(const ServeBenchResult& result,
                                   const std::vector<Workload>& workloads);

}  // namespace vivace
