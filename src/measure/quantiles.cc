#include "measure/quantiles.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vivace {

double QuantileOf(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

Quantiles QuantilesOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.count = values.size(),
          .p50 = QuantileOf(values, 0.5),
          .p90 = QuantileOf(values, 0.9),
          .p99 = QuantileOf(values, 0.99),
          .min = values.front(),
          .max = values.back(),
          .mean = sum / static_cast<double>(values.size())};
}

}  // namespace vivace
