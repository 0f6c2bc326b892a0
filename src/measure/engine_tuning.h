// EngineTuning: finds what settings make the engine fastest on this machine and container.
//
// Candidates of one setting are measured in turns, in short rounds, so that a machine that is
// shared disturbs all alike; one that is not clearly better than the plain choice is not
// taken. No setting changes a result.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_team.h"
#include "machine/spread.h"
#include "model/model.h"

namespace vivace {

// What `vivace run` and `vivace serve` can be told.
struct TunedSettings {
  int threads = 0;
  std::int64_t prompt_chunk = 256;
  std::int64_t prefetch = 2048;  // bytes
  double stall_budget_ms = 50;
};

// One candidate and how fast it was, in the finding's unit.
struct TuningCandidate {
  std::string value;
  Spread speed;
};

// A setting, what was chosen and why, in a sentence for people.
struct TuningFinding {
  std::string name;
  std::string value;
  std::string sentence;
  std::string unit;
  std::vector<TuningCandidate> candidates;
};

struct EngineTuning {
  TunedSettings settings;
  std::vector<TuningFinding> findings;
  double seconds = 0;
};

struct EngineTuningOptions {
  std::vector<int> threads;  // candidates, ascending; the usual one among them
  int usual_threads = 1;
  double stage_seconds = 12;  // of one setting; slow machines get at least two rounds
  // As the program makes its teams: pinned and spinning as it does.
  std::function<std::unique_ptr<ThreadTeam>(int)> make_team;
};

// `fresh` is the same model loaded a second time, whose weights may be moved to huge pages;
// afterwards they are. kCancelled when asked to stop.
Result<EngineTuning> TuneEngine(const Model& model, const Model& fresh,
                                const EngineTuningOptions& options, const std::stop_token& cancel,
                                const std::function<void(double, std::string_view)>& progress);

// The index of the fastest; of those within `margin` of it, the first. Precondition: not empty.
std::size_t FirstOfTheFastest(const std::vector<Spread>& speeds, double margin);

// `usual`, one less, half of it, one, `most`, and halfway there: ascending, each once.
std::vector<int> ThreadCandidates(int usual, int most);

// What a step may take so that a prompt beside a stream keeps three quarters of its speed.
double StallBudgetFor(double decode_ms, double row_ms);

}  // namespace vivace
