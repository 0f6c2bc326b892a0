// The integers of one block of 32 values, whatever its format: what decode, the
// reference product and the packer all start from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "quant/types.h"

namespace vivace {

// value[i] = d * scale[i / 16] * q[i] - dmin * min[i / 16]
struct SubBlock {
  std::int16_t q[32];
  std::int32_t scale[2];  // integer scales of the two halves; 1 where the format has none
  std::int32_t min[2];    // integer mins of the two halves
  float d;
  float dmin;  // 0 where the format has no minimum; -m for Q4_1 and Q5_1
  bool has_min;
};

// Block `index` (32 values each) of a row of a block format; not for F32, F16, BF16.
SubBlock ReadSubBlock(QuantType type, const std::byte* row, std::size_t index);

}  // namespace vivace
