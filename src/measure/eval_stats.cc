#include "measure/eval_stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "measure/quantiles.h"

namespace vivace {
namespace {

constexpr double kZ = 1.959964;  // 95 % of a normal distribution lie within
constexpr int kDraws = 2000;

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Interval WilsonInterval(std::int64_t hits, std::int64_t count) {
  if (count == 0) return {.mean = 0, .low = 0, .high = 1};
  const auto n = static_cast<double>(count);
  const double share = static_cast<double>(hits) / n;
  const double middle = (share + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half =
      kZ / (1 + kZ * kZ / n) * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  return {.mean = share, .low = std::max(0.0, middle - half), .high = std::min(1.0, middle + half)};
}

Interval BootstrapInterval(const std::vector<double>& values) {
  if (values.empty()) return {};
  std::mt19937_64 random(20260301);
  std::vector<double> means(kDraws);
  for (double& mean : means) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[random() % values.size()];
    mean = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  return {
      .mean = MeanOf(values), .low = QuantileOf(means, 0.025), .high = QuantileOf(means, 0.975)};
}

Interval IntervalOf(const std::vector<double>& values) {
  const auto is_binary = [](double value) { return value == 0 || value == 1; };
  if (!std::all_of(values.begin(), values.end(), is_binary)) return BootstrapInterval(values);
  return WilsonInterval(std::count(values.begin(), values.end(), 1.0),
                        static_cast<std::int64_t>(values.size()));
}

Interval PairedDifference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) differences.push_back(b[i] - a[i]);
  return BootstrapInterval(differences);
}

}  // namespace vivace
