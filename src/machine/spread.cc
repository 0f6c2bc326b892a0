#include "machine/spread.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"

namespace vivace {

Spread SpreadOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double upper = values[middle];
  const double lower = values.size() % 2 == 1 ? upper : values[middle - 1];
  return {.median = (lower + upper) / 2, .min = values.front(), .max = values.back()};
}

Spread SpreadOfShares(const std::vector<double>& values, const std::vector<double>& limits) {
  VIVACE_CHECK(values.size() == limits.size(), "each value has its limit");
  std::vector<double> shares;
  for (std::size_t i = 0; i < values.size(); ++i) {
    shares.push_back(limits[i] > 0 ? values[i] / limits[i] : 0);
  }
  return SpreadOf(std::move(shares));
}

}  // namespace vivace
