// RunAll: requests whose answers are no text for anybody: prompts evaluated ahead of time,
// embeddings, warming up.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "api/errors.h"
#include "api/model_pool.h"
#include "engine/request.h"

namespace vivace {

struct RunResult {
  FinishReason reason = FinishReason::kStop;
  GenerateTimings timings;
  std::vector<float> embedding;
};

// Submits all of them, or fails and cancels those that were. `done` is called once, when the
// last one has ended, on the engine's thread: it must be short.
Answer<void> RunAll(const ModelLease& model, std::vector<GenerateRequest> requests,
                    const std::stop_token& stop,
                    std::function<void(std::span<const RunResult>)> done);

// The same, and waits. Not on the engine's thread.
Answer<std::vector<RunResult>> RunAndWait(const ModelLease& model,
                                          std::vector<GenerateRequest> requests);

}  // namespace vivace
