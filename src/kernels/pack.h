// Packs GGUF rows into the layout of packed_layout.h and back, without loss.
//
// Groups are independent: callers pack them in parallel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "quant/types.h"

namespace vivace {

struct PackedShape {
  QuantType type = QuantType::kF32;
  std::int64_t rows = 0;    // as the model states them
  std::int64_t k = 0;       // padded to 64
  std::int64_t groups = 0;  // of 16 rows
  std::int64_t group_bytes = 0;
  std::int64_t total_bytes = 0;
};

// kBadInput when k is not a multiple of the type's block. Precondition: 1 <= rows, k <= 2^24.
Result<PackedShape> PackedShapeOf(QuantType type, std::int64_t rows, std::int64_t k);

// Packs group `group` of a row-major matrix [rows, k] of GGUF blocks into `out`,
// shape.group_bytes zeroed bytes, 64-byte aligned.
void PackGroup(const PackedShape& shape, const std::byte* gguf_rows, std::int64_t rows,
               std::int64_t k, std::int64_t group, std::byte* out);

// Row `row` of a packed matrix as GGUF blocks of k values (unpadded).
void UnpackRow(const PackedShape& shape, const std::byte* packed, std::int64_t row, std::int64_t k,
               std::byte* gguf_row);

}  // namespace vivace
