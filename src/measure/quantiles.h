// Quantiles: a distribution in a few numbers: the median, the tail, and how far apart they are.
#pragma once

#include <cstddef>
#include <vector>

namespace vivace {

struct Quantiles {
  std::size_t count = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;
  double mean = 0;

  // How much worse the tail is than the middle; 0 without values.
  double tail() const { return p50 > 0 ? p99 / p50 : 0; }
};

// Zeros for no values.
Quantiles QuantilesOf(std::vector<double> values);

// The value below which that share of them lies, between two neighbours by a straight line.
// Precondition: `sorted` is ascending and not empty, 0 <= share <= 1.
double QuantileOf(const std::vector<double>& sorted, double share);

}  // namespace vivace
