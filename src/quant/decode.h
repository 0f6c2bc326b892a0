// Decodes GGUF rows to float32.
#pragma once

#include <cstddef>

#include "quant/types.h"

namespace vivace {

// `row` holds RowBytes(type, k) bytes, of any alignment; out holds k values.
void DecodeRow(QuantType type, const std::byte* row, std::size_t k, float* out);

}  // namespace vivace
