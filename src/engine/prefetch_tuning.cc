#include "engine/prefetch_tuning.h"

#include <algorithm>

namespace vivace {
namespace {

// A distance must beat the first one by this much: less is noise.
constexpr double kMargin = 0.985;

double Median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void PrefetchTuning::Record(double ms) {
  if (done_) return;
  times_[turn_ % kDistances.size()].push_back(ms);
  if (++turn_ < kRounds * kDistances.size()) return;
  double best = kMargin * Median(times_[0]);
  for (std::size_t i = 1; i < kDistances.size(); ++i) {
    const double median = Median(times_[i]);
    if (median >= best) continue;
    best = median;
    chosen_ = kDistances[i];
  }
  done_ = true;
}

}  // namespace vivace
