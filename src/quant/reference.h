// The definition of a weight row's product with an activation row.
//
// Every kernel, on every instruction set, equals this bit for bit. acc starts at +0 and
// takes the blocks of 32 values in ascending order; integers are exact in int32:
//   no minimum   acc = fma(float(dot), d * d_a, acc)
//   minimum      u = fma(float(sum), m, float(dot) * d);  acc = fma(u, d_a, acc)
// With an integer scale s, and minimum n, of the block (Q4_K, Q5_K, IQ4_XS): d = d_w * s,
// m = -(dmin * n). With such of each half of 16 values (Q2_K, Q3_K, Q6_K): dot = s0 * dot0
// + s1 * dot1, sum = n0 * sum0 + n1 * sum1, m = -dmin. F32, F16 and BF16 weights:
// acc = fma(w[k], x[k], acc), k ascending.
#pragma once

#include <cstddef>

#include "quant/activation.h"
#include "quant/types.h"

namespace vivace {

// `x` is the float row that `activation` was made from; only float weights read it.
float RowProductReference(QuantType type, const std::byte* row, std::size_t k,
                          const ActivationRow& activation, const float* x);

}  // namespace vivace
