// ServeBench: how fast chat servers answer, as their clients see it.
//
// Servers take turns workload by workload within each round, with the same texts, so that a
// machine that is shared disturbs all alike. The first round only warms up and is kept apart.
// Closed loop: so many clients, each asks as soon as it has its answer. Open loop: requests
// come at random moments at a given rate, whether earlier ones are done or not, and times
// count from the moment at which one was due.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/chat_answer.h"
#include "measure/http_loop.h"
#include "measure/serve_workload.h"

namespace vivace {

struct ServeTarget {
  std::string name;   // as people call it
  std::string url;    // without a final "/v1"
  std::string model;  // "": the first that the server lists
};

struct ServeBenchOptions {
  std::vector<ServeTarget> targets;
  std::vector<Workload> workloads;
  int rounds = 5;
  int concurrency = 1;          // clients of the closed loop
  double rate = 0;              // requests a second of the open loop; 0: closed loop
  int requests = 0;             // chats of one workload and round; 0: chosen
  std::int64_t max_tokens = 0;  // of an answer, instead of the workload's; 0: the workload's
  std::uint64_t seed = 0;       // of the texts; the same ones may be in a server's cache
  double silence_s = 300;       // without a byte, then a request has failed
  std::string api_key;
};

struct ServeSample {
  std::size_t workload = 0;
  int round = 0;         // -1: warm-up
  std::size_t turn = 0;  // of its chat
  ChatAnswer answer;     // without the text
  bool is_json = false;  // whether the text was a JSON value
};

struct ServeTargetResult {
  ServeTarget target;
  std::vector<ServeSample> samples;  // in order of their ends, warm-up and failed ones too
  std::vector<double> batch_s;       // [workloads] that all rounds took, without the warm-up
  double cpu_s = 0;                  // of this program in that time
};

struct ServeBenchResult {
  std::vector<ServeTargetResult> targets;
  double seconds = 0;
  bool interrupted = false;
};

// "http://host:8080", with or without "/v1" at the end, with or without "NAME=" in front.
// kBadInput where that is no address of a server.
Result<ServeTarget> ParseServeTarget(std::string_view text);

// Asks each target for its models, then runs. kIo, naming the target, when one cannot be
// reached, or when every request of its warm-up fails. progress(share, what) comes before
// each part.
Result<ServeBenchResult> RunServeBench(
    ServeBenchOptions options, const std::stop_token& cancel,
    const std::function<void(double, std::string_view)>& progress);

}  // namespace vivace
