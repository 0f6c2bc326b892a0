// Encodes super-blocks of 256 values: the K-quants and IQ4_XS. Internal to encoding.
#pragma once

#include <cstddef>
#include <span>

#include "quant/types.h"

namespace vivace {

// Precondition: `type` has blocks of 256 values. `out` takes one block.
void EncodeSuperBlock(QuantType type, std::span<const float, 256> x, std::byte* out);

}  // namespace vivace
