// The project's one exponential: Cody-Waite reduction and a polynomial of degree 5 on the
// remainder (coefficients of Cephes expf). Relative error below 2^-23 on [-87, 88].
#pragma once

#include <math.h>

#include <cstdint>

namespace vivace::VIVACE_ISA {
namespace {

// Loops are vectorized only where it is inlined.
[[maybe_unused, gnu::always_inline]] inline float ExpLane(float value) {
  float x = value < -87.0F ? -87.0F : value;
  x = x > 88.0F ? 88.0F : x;
  const float n = __builtin_rintf(x * 1.44269504088896341F);
  float r = __builtin_fmaf(n, -0.693359375F, x);
  r = __builtin_fmaf(n, 2.12194440e-4F, r);
  float p = 1.9875691500e-4F;
  p = __builtin_fmaf(p, r, 1.3981999507e-3F);
  p = __builtin_fmaf(p, r, 8.3334519073e-3F);
  p = __builtin_fmaf(p, r, 4.1665795894e-2F);
  p = __builtin_fmaf(p, r, 1.6666665459e-1F);
  p = __builtin_fmaf(p, r, 5.0000001201e-1F);
  const float y = __builtin_fmaf(p, r * r, r) + 1.0F;
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &y, sizeof bits);
  // Unsigned, for what a NaN becomes.
  bits += static_cast<std::uint32_t>(static_cast<std::int32_t>(n)) << 23;
  float result = 0;
  __builtin_memcpy(&result, &bits, sizeof result);
  return result;
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
