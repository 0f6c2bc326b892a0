#include "quant/fit.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace vivace {
namespace {

// Sums of the weighted least squares problem: values y against codes q.
struct Sums {
  float w = 0, wq = 0, wqq = 0, wy = 0, wqy = 0;

  void Add(float weight, float q, float y) {
    w += weight;
    wq += weight * q;
    wqq += weight * q * q;
    wy += weight * y;
    wqy += weight * q * y;
  }
};

// The best scale and min for given codes, with min >= 0.
ScaleAndMin Solve(const Sums& sums) {
  const float determinant = sums.w * sums.wqq - sums.wq * sums.wq;
  if (determinant > 0) {
    const ScaleAndMin fit = {(sums.w * sums.wqy - sums.wq * sums.wy) / determinant,
                             (sums.wq * sums.wqy - sums.wqq * sums.wy) / determinant};
    if (fit.min >= 0) return fit;
  }
  return {sums.wqq > 0 ? sums.wqy / sums.wqq : 0, 0};
}

float Error(std::span<const float> x, float base_weight, const ScaleAndMin& fit, int highest) {
  const float inverse = fit.scale > 0 ? 1 / fit.scale : 0;
  float error = 0;
  for (const float value : x) {
    const int code = RoundWithin((value + fit.min) * inverse, 0, highest);
    const float miss = fit.scale * static_cast<float>(code) - fit.min - value;
    error += (base_weight + std::fabs(value)) * miss * miss;
  }
  return error;
}

}  // namespace

int RoundWithin(float value, int lowest, int highest) {
  const auto low = static_cast<float>(lowest);
  const auto high = static_cast<float>(highest);
  const float raised = value > low ? value : low;  // NaN too
  const float clamped = raised < high ? raised : high;
  // At 1.5 * 2^23 the float format's own rounding leaves integers in the low bits: encoding
  // spends most of its time here, and nearbyint is a call.
  constexpr float kShift = 0x1.8p23F;
  return std::bit_cast<std::int32_t>(clamped + kShift) - std::bit_cast<std::int32_t>(kShift);
}

int CodeBook::Nearest(float value) const {
  if (table_.empty()) return RoundWithin(value, lowest_, lowest_ + count_ - 1) - lowest_;
  int code = 0;
  while (code + 1 < count_ && 2 * value > static_cast<float>(ValueOf(code) + ValueOf(code + 1))) {
    ++code;
  }
  return code;
}

float Peak(std::span<const float> x) {
  float peak = 0;
  for (const float value : x) {
    if (std::fabs(value) > std::fabs(peak)) peak = value;
  }
  return peak;
}

float FitScale(std::span<const float> x, const CodeBook& book) {
  const float peak = Peak(x);
  if (peak == 0) return 0;
  // For codes q, the scale s that minimizes sum w (x - s q)^2 leaves
  // sum w x^2 - (sum w q x)^2 / sum w q^2: the last term is to be large. Codes come from
  // scales that map the peak to somewhere around the end of the book.
  float best_scale = 0;
  float best_gain = -1;
  for (int step = -9; step <= 9; ++step) {
    const float end = static_cast<float>(book.lowest()) * (1 + 0.01F * static_cast<float>(step));
    const float inverse = end / peak;
    float qq = 0;
    float qx = 0;
    for (const float value : x) {
      const auto q = static_cast<float>(book.ValueOf(book.Nearest(value * inverse)));
      qq += value * value * q * q;
      qx += value * value * q * value;
    }
    if (qq > 0 && qx * qx > best_gain * qq) {
      best_gain = qx * qx / qq;
      best_scale = qx / qq;
    }
  }
  // Squares of tiny values are 0, of huge ones infinite: fall back on the peak.
  return std::isfinite(best_scale) && best_scale != 0 ? best_scale
                                                      : peak / static_cast<float>(book.lowest());
}

ScaleAndMin FitScaleAndMin(std::span<const float> x, int highest) {
  float low = 0;
  float high = 0;
  float squares = 0;
  for (const float value : x) {
    low = std::min(low, value);
    high = std::max(high, value);
    squares += value * value;
  }
  if (!(high - low > 0)) return {0, 0};
  const float base_weight = std::sqrt(squares / static_cast<float>(x.size()));
  ScaleAndMin best = {(high - low) / static_cast<float>(highest), -low};
  float best_error = Error(x, base_weight, best, highest);
  for (int step = -5; step <= 10; ++step) {
    const float inverse =
        (static_cast<float>(highest) + 0.1F * static_cast<float>(step)) / (high - low);
    Sums sums;
    for (const float value : x) {
      const int code = RoundWithin((value - low) * inverse, 0, highest);
      sums.Add(base_weight + std::fabs(value), static_cast<float>(code), value);
    }
    const ScaleAndMin fit = Solve(sums);
    const float error = Error(x, base_weight, fit, highest);
    if (fit.scale > 0 && error < best_error) {
      best = fit;
      best_error = error;
    }
  }
  return best;
}

}  // namespace vivace
