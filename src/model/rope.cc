#include "model/rope.h"

#include <cmath>

namespace vivace {

Rope::Rope(double base, std::int64_t dim, std::span<const float> factors) {
  for (std::int64_t i = 0; i < dim / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(dim);
    const auto index = static_cast<std::size_t>(i);
    const double factor = factors.empty() ? 1.0 : static_cast<double>(factors[index]);
    frequencies_.push_back(std::pow(base, exponent) / factor);
  }
}

void Rope::Rotation(std::int64_t position, float* cos, float* sin) const {
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    const double angle = static_cast<double>(position) * frequencies_[i];
    cos[i] = static_cast<float>(std::cos(angle));
    sin[i] = static_cast<float>(std::sin(angle));
  }
}

}  // namespace vivace
