// What a sample says about the truth: intervals, and whether two runs differ beyond noise.
#pragma once

#include <cstdint>
#include <vector>

namespace vivace {

// Where the truth lies with 95 % confidence.
struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// Of a share: `hits` of `count` (Wilson, 1927): sensible for few, none and all as well.
Interval WilsonInterval(std::int64_t hits, std::int64_t count);

// Of the mean of any numbers, by drawing from them again and again. The same numbers give
// the same interval.
Interval BootstrapInterval(const std::vector<double>& values);

// Shares of zeros and ones by Wilson, other numbers by bootstrap.
Interval IntervalOf(const std::vector<double>& values);

// Of the mean difference of two runs over the same items: b - a.
Interval PairedDifference(const std::vector<double>& a, const std::vector<double>& b);

// Whether zero is outside: more than noise.
inline bool IsBeyondNoise(const Interval& difference) {
  return difference.low > 0 || difference.high < 0;
}

}  // namespace vivace
