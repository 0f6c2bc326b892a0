// EngineBench: how fast a model reads prompts and writes answers here, and how much of the
// machine's limits that is.
//
// Rounds: each measures the limits, every prompt, every context and every batch once, so
// that a figure and its limit are of the same moment on a machine that is shared.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_team.h"
#include "measure/engine_plan.h"
#include "measure/work_point.h"
#include "model/model.h"

namespace vivace {

struct EngineBenchResult {
  std::vector<WorkPoint> prompts;   // ascending; those longer than the main one have one sample
  std::vector<WorkPoint> contexts;  // ascending, the main answer's first
  std::vector<WorkPoint> batches;   // as the options order them
  std::size_t main_prompt = 0;      // its index
  Spread read;                      // bytes per second: the faster of the next two, by round
  Spread read_memory;               // of plain memory on huge pages
  Spread read_weights;              // of the model's weights where they lie
  double weights_huge_share = 0;    // of their memory, mapped by 2 MB pages
  Spread peak;                      // int8 products per second
  PrefetchTuning prefetch;          // what was used
  int rounds = 0;
  double seconds = 0;

  const WorkPoint& prompt() const { return prompts[main_prompt]; }
  const WorkPoint& answer() const { return contexts.front(); }
};

// progress(share, what) comes before each part. kBadInput as of PlanEngineBench.
Result<EngineBenchResult> RunEngineBench(
    const Model& model, ThreadTeam& team, const EngineBenchOptions& options,
    const std::function<void(double, std::string_view)>& progress);

}  // namespace vivace
