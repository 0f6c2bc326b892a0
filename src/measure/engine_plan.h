// EngineBenchPlan: what an engine benchmark measures: prompts, contexts and batches within
// the model's context and the machine's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/prefetch_tuning.h"
#include "model/config.h"

namespace vivace {

struct EngineBenchOptions {
  std::int64_t prompt = 512;                     // tokens of the main prompt
  std::int64_t gen = 64;                         // tokens of the main answer
  std::vector<std::int64_t> batch = {1, 4, 16};  // sequences that decode together
  int rounds = 5;
  double max_seconds = 0;  // no new round after that, once there are three; 0: all rounds
  std::int64_t prompt_chunk = 256;
  std::size_t read_bytes = std::size_t{256} << 20;
  std::int64_t memory = 0;       // bytes that may be used; 0: unknown
  PrefetchTuning prefetch = {};  // what is known of this machine
};

struct EngineBenchPlan {
  std::int64_t context = 0;                // of the main answer and of batches
  std::vector<std::int64_t> prompts;       // in every round; ascending, with the main one
  std::vector<std::int64_t> long_prompts;  // once, if there is time
  std::vector<std::int64_t> contexts;      // ascending, the first is `context`
  std::int64_t pages = 0;                  // of keys and values, at most at once
};

// kBadInput, with the allowed range, for a prompt, answer or batch beyond the model's
// context or the memory.
Result<EngineBenchPlan> PlanEngineBench(const EngineBenchOptions& options, const Config& config);

}  // namespace vivace
