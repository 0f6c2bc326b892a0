#include "sampling/exp.h"

#include <algorithm>

namespace vivace {
namespace {

constexpr std::size_t kLanes = 8;

}  // namespace

double FixedLog(double x) {
  constexpr double kLn2 = 0.693147180559945309;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffU) | std::uint64_t{1023} << 52);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  // log m = 2 atanh(t), t = (m - 1) / (m + 1), |t| < 0.1716: 11 odd terms reach 1e-17.
  const double t = (mantissa - 1) / (mantissa + 1);
  const double square = t * t;
  double sum = 0;
  for (int term = 21; term >= 1; term -= 2) sum = sum * square + 1.0 / term;
  return 2 * t * sum + exponent * kLn2;
}

double WeighBlock(const float* logits, std::size_t count, float best, float scale, float* weights) {
  for (std::size_t i = 0; i < count; ++i) weights[i] = FixedExp((logits[i] - best) * scale);
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += weights[i + lane];
  }
  for (; i < count; ++i) lanes[i % kLanes] += weights[i];
  double sum = 0;
  for (const float lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

double SumOfWeights(std::span<const float> logits, float best) {
  float weights[kWeightBlock];
  double sum = 0;
  for (std::size_t begin = 0; begin < logits.size(); begin += kWeightBlock) {
    const std::size_t count = std::min(kWeightBlock, logits.size() - begin);
    sum += WeighBlock(logits.data() + begin, count, best, 1.0F, weights);
  }
  return sum;
}

}  // namespace vivace
