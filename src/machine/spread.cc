#include "machine/spread.h"

#include <algorithm>
#include <cstddef>

namespace vivace {

Spread SpreadOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double upper = values[middle];
  const double lower = values.size() % 2 == 1 ? upper : values[middle - 1];
  return {.median = (lower + upper) / 2, .min = values.front(), .max = values.back()};
}

}  // namespace vivace
