// Matrix: a packed weight matrix, as a view of memory that someone else owns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel_table.h"
#include "kernels/packed_layout.h"
#include "quant/types.h"

namespace vivace {

struct Matrix {
  QuantType type = QuantType::kF32;
  std::int64_t rows = 0;  // outputs, as the model states them
  std::int64_t k = 0;     // inputs, padded to 64
  std::int64_t group_bytes = 0;
  const std::byte* data = nullptr;  // 64-byte aligned
  MatmulKernel matmul = nullptr;

  // Multiplies the floats of the activations, not their quantized form.
  bool of_floats() const { return FactsOf(type).block_values == 1; }
  std::int64_t groups() const { return (rows + kGroupRows - 1) / kGroupRows; }
};

}  // namespace vivace
