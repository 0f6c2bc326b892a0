// vivace eval compare: runs side by side, with what is beyond noise.
#include <iostream>

#include <fmt/format.h>

#include "app/eval.h"
#include "app/human.h"

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

void PrintTable(const EvalComparison& comparison) {
  fmt::print("{}, {}; 95 % intervals\n\n{:<36}{:>7}{:>10}{:>22}{:>12}{:>24}\n", comparison.kind,
             comparison.metric, "", "items", "mean", "within", "difference", "within");
  for (const EvalComparison::Row& row : comparison.rows) {
    fmt::print("{:<36}{:>7}{:>10.4f}{:>22}", Printable(row.name).substr(0, 35), row.items, row.mean,
               fmt::format("{:.4f} to {:.4f}", row.low, row.high));
    if (&row != &comparison.rows.front()) {
      fmt::print("{:>+12.4f}{:>24}{}", row.difference,
                 fmt::format("{:+.4f} to {:+.4f}", row.difference_low, row.difference_high),
                 row.beyond_noise ? "  beyond noise" : "");
    }
    fmt::print("\n");
  }
}

Json RowJson(const EvalComparison::Row& row, const std::string& path) {
  return {{"run", path},
          {"model", row.name},
          {"items", row.items},
          {"mean", row.mean},
          {"low", row.low},
          {"high", row.high},
          {"common", row.common},
          {"difference", row.difference},
          {"difference_low", row.difference_low},
          {"difference_high", row.difference_high},
          {"beyond_noise", row.beyond_noise}};
}

}  // namespace

Result<int> CompareEvals(const std::vector<std::string>& paths, bool json) {
  std::vector<EvalRun> runs;
  for (const std::string& path : paths) {
    auto run = ReadEvalRun(path);
    if (!run) return Failure(std::move(run).error());
    runs.push_back(*std::move(run));
  }
  const auto comparison = CompareRuns(runs);
  if (!comparison) return Failure(comparison.error());
  if (!json) {
    PrintTable(*comparison);
    return 0;
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i)
    rows.push_back(RowJson(comparison->rows[i], paths[i]));
  std::cout << Json({{"kind", comparison->kind}, {"metric", comparison->metric}, {"runs", rows}})
                   .dump(-1, ' ', false, Json::error_handler_t::replace)
            << '\n';
  return 0;
}

}  // namespace vivace
