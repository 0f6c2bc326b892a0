// Spread: one figure measured several times: the median, with the range that it moved in.
#pragma once

#include <vector>

namespace vivace {

struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};

// Zeros for no values. The median of an even number is the mean of the two in the middle.
Spread SpreadOf(std::vector<double> values);

}  // namespace vivace
