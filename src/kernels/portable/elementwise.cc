// Loops over elements, written once and vectorized by the compiler for each tier.
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {

void Add(const float* x, float* y, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) y[i] = y[i] + x[i];
}

void RopeHalves(float* x, const float* cos, const float* sin, std::int64_t dim) {
  const std::int64_t half = dim / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const float a = x[i];
    const float b = x[i + half];
    x[i] = __builtin_fmaf(a, cos[i], -(b * sin[i]));
    x[i + half] = __builtin_fmaf(b, cos[i], a * sin[i]);
  }
}

void RopePairs(float* x, const float* cos, const float* sin, std::int64_t dim) {
  for (std::int64_t i = 0; i < dim / 2; ++i) {
    const float a = x[2 * i];
    const float b = x[2 * i + 1];
    x[2 * i] = __builtin_fmaf(a, cos[i], -(b * sin[i]));
    x[2 * i + 1] = __builtin_fmaf(b, cos[i], a * sin[i]);
  }
}

}  // namespace vivace::VIVACE_ISA
