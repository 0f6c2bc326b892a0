// Encodes rows of float32 in GGUF's formats: for converting models and for tests.
//
// F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1 and MXFP4 are the formats' plain definition, byte
// for byte. The others search scales that keep the squared error small.
#pragma once

#include <cstddef>

#include "quant/types.h"

namespace vivace {

// `row` takes RowBytes(type, k) bytes, of any alignment; k is a multiple of the type's
// block. Infinities and NaN get some code, the rest of their block may be lost with them.
void EncodeRow(QuantType type, const float* x, std::size_t k, std::byte* row);

}  // namespace vivace
