#include "draft/row_cost.h"

#include <algorithm>

namespace vivace {
namespace {

constexpr std::int64_t kLeastCount = 3;
constexpr std::int64_t kForgetAfter = 1000;  // steps
// The least weight of what was measured last.
constexpr double kWeight = 0.1;
// No single step counts for more than so many times the mean: the system was busy elsewhere.
constexpr double kMostTimes = 1.5;
// What one more row costs, in shares of a step, where that was never measured: little, or it
// would never be tried.
constexpr double kGuess = 0.03;

}  // namespace

bool RowCost::fresh(std::int64_t rows) const {
  return at(rows).count > 0 && steps_ - at(rows).step < kForgetAfter;
}

bool RowCost::Known(std::int64_t rows) const {
  return rows <= kMostRows && fresh(rows) && at(rows).count >= kLeastCount;
}

void RowCost::Observe(std::int64_t rows, double ms) {
  ++steps_;
  if (rows < 1 || rows > kMostRows) return;
  Node& node = nodes_[static_cast<std::size_t>(rows)];
  if (!fresh(rows)) node.count = 0;
  if (node.count >= kLeastCount) ms = std::min(ms, kMostTimes * node.ms);
  const double weight = std::max(1.0 / static_cast<double>(++node.count), kWeight);
  node.ms += weight * (ms - node.ms);
  node.step = steps_;
}

double RowCost::Ms(std::int64_t rows) const {
  if (fresh(rows)) return at(rows).ms;
  std::int64_t below = rows - 1;
  while (below > 0 && !fresh(below)) --below;
  std::int64_t above = rows + 1;
  while (above <= kMostRows && !fresh(above)) ++above;
  const auto between = static_cast<double>(rows - below);
  if (above > kMostRows) {
    return below == 0 ? 0 : at(below).ms * (1 + kGuess * between);
  }
  if (below == 0) return at(above).ms;
  const double slope = (at(above).ms - at(below).ms) / static_cast<double>(above - below);
  return at(below).ms + slope * between;
}

}  // namespace vivace
