// Vectors of unit length. Stateless; any thread.
#pragma once

#include <cmath>
#include <span>

namespace vivace {

// Scales to unit length, with the sum of squares in double and in order; zeros stay zeros.
inline void ScaleToUnitLength(std::span<float> vector) {
  double squares = 0;
  for (const float value : vector) squares += double{value} * double{value};
  const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  for (float& value : vector) value = static_cast<float>(value * scale);
}

}  // namespace vivace
