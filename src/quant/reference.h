// The definition of a weight row's product with an activation row.
//
// Every kernel, on every instruction set, equals this bit for bit. acc starts at +0 and
// takes the blocks of 32 values in ascending order; integers are exact in int32:
//   no minimum   acc = fma(float(s0 * dot0 + s1 * dot1), d_w * d_a, acc)
//   minimum      then acc = fma(float(m0 * sum0 + m1 * sum1), -(dmin * d_a), acc)
// with dot, sum, s, m of the two halves of 16 values (s = 1 where the format has no
// integer scales). Q4_1 and Q5_1, whose minimum m is added: acc = fma(float(sum),
// m * d_a, acc). F32, F16 and BF16 weights: acc = fma(w[k], x[k], acc), k ascending.
#pragma once

#include <cstddef>

#include "quant/activation.h"
#include "quant/types.h"

namespace vivace {

// `x` is the float row that `activation` was made from; only float weights read it.
float RowProductReference(QuantType type, const std::byte* row, std::size_t k,
                          const ActivationRow& activation, const float* x);

}  // namespace vivace
