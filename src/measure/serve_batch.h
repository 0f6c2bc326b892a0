// ServeBatch: the chats of one workload with one server, in one round, as a closed or an open
// loop.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <vector>

#include "measure/http_loop.h"
#include "measure/serve_bench.h"

namespace vivace {

struct ServeBatchPlan {
  const ServeBenchOptions* options = nullptr;
  const ServeTarget* target = nullptr;
  std::size_t workload = 0;
  int round = 0;
};

// Runs all of them and appends what came of each request. Returns the seconds it took.
double RunServeBatch(HttpLoop& loop, const ServeBatchPlan& plan, const std::stop_token& cancel,
                     std::vector<ServeSample>& samples);

// How many chats a batch has, and the milliseconds after its start at which each is due; all
// zero in the closed loop, where a chat waits for a client instead.
std::vector<double> DueTimes(const ServeBenchOptions& options, int round);

// The body of a request for the next turn.
std::string ChatBody(const std::string& model, const Conversation& chat,
                     const std::vector<std::string>& answers, std::int64_t max_tokens);

}  // namespace vivace
