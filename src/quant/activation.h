// Activations: how a row of floats becomes int8 with a scale per 32 values.
//
// Per block of 32, with m = max|x|:
//   m < 1e-30: d = 0, q = 0
//   else d = m / 127, q = rint(x * (127 / m)), to nearest even
// The maximum passes over NaN; where the product is NaN (x is, or m is infinite), q = 0.
// The sums of q let formats with a zero point or a minimum be handled once per block.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vivace {

// Arrays that the caller owns, for one row of k values (a multiple of 32).
struct ActivationRow {
  std::int8_t* q;          // [k]
  float* d;                // [k / 32]
  std::int32_t* sum;       // [k / 32] sums of 32 q
  std::int32_t* half_sum;  // [k / 16] sums of 16 q
};

// The definition; kernels equal it bit for bit.
void QuantizeRowReference(const float* x, std::size_t k, const ActivationRow& out);

}  // namespace vivace
