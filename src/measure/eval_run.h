// EvalRun: the results of an evaluation as a file: a line of JSON that says what was asked of
// which model, then a line for each item.
//
// Lines are appended as they come, so an evaluation that was interrupted at any moment goes on
// where it was: a last line that is cut is dropped. A file of another evaluation is refused.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace vivace {

// What makes two runs comparable, but for the model.
struct EvalHead {
  std::string kind;    // "text", "choice", "code", "json", "needle"
  std::string metric;  // "accuracy", "mean_nll", ...
  std::string data;    // names the questions: a file's hash, or how they are made
  std::string model;
  std::string model_hash;
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
};

struct EvalRun {
  std::string path;
  EvalHead head;
  std::map<std::string, double> values;  // by item
};

// Reads a whole file. kBadInput with file and line for anything that is none.
Result<EvalRun> ReadEvalRun(const std::string& path);

class EvalLog {
 public:
  // Nothing is kept where `path` is "". Otherwise goes on with the file, or begins it.
  static Result<EvalLog> Open(const std::string& path, const EvalHead& head);

  bool Has(const std::string& item) const { return run_.values.contains(item); }
  // `item` is new. `more` are further fields of its line.
  Result<void> Add(const std::string& item, double value, const nlohmann::ordered_json& more);

  const EvalRun& run() const { return run_; }
  std::size_t resumed() const { return resumed_; }  // items of an earlier start
  // In the items' order.
  std::vector<double> values() const;

 private:
  EvalRun run_;
  std::size_t resumed_ = 0;
};

// Runs side by side, the first one being what the others are compared with: means with 95 %
// intervals, differences over common items, and a mark where one is beyond noise. kBadInput
// where they were not asked the same.
struct EvalComparison {
  struct Row {
    std::string name;
    std::size_t items = 0;
    double mean = 0, low = 0, high = 0;
    std::size_t common = 0;  // items that the first run has, too
    double difference = 0, difference_low = 0, difference_high = 0;
    bool beyond_noise = false;
  };
  std::string kind;
  std::string metric;
  std::vector<Row> rows;
};
Result<EvalComparison> CompareRuns(const std::vector<EvalRun>& runs);

}  // namespace vivace
