// The parts of `vivace eval`, one file each, and what they share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/interrupts.h"
#include "app/progress.h"
#include "app/session.h"
#include "measure/eval_run.h"

namespace vivace {

struct EvalFlags {
  SessionFlags session;
  std::string text;
  std::int64_t tokens = 4096;
  std::int64_t window = 512;
  std::string save_run;
  std::string against;
  std::string tasks;
  std::string examples;    // a file of questions with answers, to show before each of tasks
  std::int64_t shots = 0;  // how many of them
  std::vector<std::int64_t> needle;
  std::int64_t json_answers = 0;
  std::int64_t limit = 0;  // items of tasks; 0: all
  std::int64_t repeats = 1;
  std::int64_t max_tokens = 512;
  bool raw = false;
  std::string out;
  bool json = false;
};

Result<int> EvalText(const EvalFlags& flags);
Result<int> EvalTasks(const EvalFlags& flags);
Result<int> EvalJsonAnswers(const EvalFlags& flags);
Result<int> EvalNeedle(const EvalFlags& flags);
Result<int> CompareEvals(const std::vector<std::string>& paths, bool json);

// The model's identity for a run's head.
EvalHead HeadOf(const Session& session, std::string kind, std::string metric, std::string data);

// One item: its name, and what answers it: the value, and further fields of its line.
struct EvalItem {
  std::string name;
  std::function<Result<double>(nlohmann::ordered_json& more)> run;
};

// Runs the items that the file at `out` does not have yet, with progress; then prints the mean
// with its interval. Ctrl-C ends it between items, with what there is in the file.
Result<int> RunEvalItems(const EvalFlags& flags, const EvalHead& head,
                         const std::vector<EvalItem>& items, const InterruptScope& interrupt);

GenerateRequest GreedyRequest(std::vector<TokenId> prompt, std::int64_t max_tokens);

// A greedy answer to a question in the model's chat format. kCancelled when interrupted.
Result<std::string> GreedyAnswer(Session& session, const std::string& system,
                                 const std::string& question, std::int64_t max_tokens,
                                 const std::stop_token& cancel);

}  // namespace vivace
