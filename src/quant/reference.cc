#include "quant/reference.h"

#include <cmath>
#include <vector>

#include "quant/decode.h"
#include "quant/sub_blocks.h"

namespace vivace {
namespace {

float FloatProduct(QuantType type, const std::byte* row, std::size_t k, const float* x) {
  std::vector<float> weights(k);
  DecodeRow(type, row, k, weights.data());
  float acc = 0;
  for (std::size_t i = 0; i < k; ++i) acc = std::fma(weights[i], x[i], acc);
  return acc;
}

// Formats with one integer scale for a block have it in the float scale.
bool OneScale(QuantType type) {
  return type == QuantType::kQ4_K || type == QuantType::kQ5_K || type == QuantType::kIQ4_XS;
}

SubBlock BlockOfProduct(QuantType type, const std::byte* row, std::size_t index) {
  SubBlock block = ReadSubBlock(type, row, index);
  if (!OneScale(type)) return block;
  block.d *= static_cast<float>(block.scale[0]);
  block.dmin *= static_cast<float>(block.min[0]);
  for (int half = 0; half < 2; ++half) block.scale[half] = block.min[half] = 1;
  return block;
}

}  // namespace

float RowProductReference(QuantType type, const std::byte* row, std::size_t k,
                          const ActivationRow& activation, const float* x) {
  if (FactsOf(type).block_values == 1) return FloatProduct(type, row, k, x);
  float acc = 0;
  for (std::size_t b = 0; b < k / 32; ++b) {
    const SubBlock block = BlockOfProduct(type, row, b);
    std::int32_t dot = 0;
    std::int32_t sum = 0;
    for (std::size_t half = 0; half < 2; ++half) {
      std::int32_t half_dot = 0;
      for (std::size_t i = 16 * half; i < 16 * half + 16; ++i) {
        half_dot += block.q[i] * activation.q[32 * b + i];
      }
      dot += block.scale[half] * half_dot;
      sum += block.min[half] * activation.half_sum[2 * b + half];
    }
    if (block.has_min) {
      const float of_block =
          std::fma(static_cast<float>(sum), -block.dmin, static_cast<float>(dot) * block.d);
      acc = std::fma(of_block, activation.d[b], acc);
    } else {
      acc = std::fma(static_cast<float>(dot), block.d * activation.d[b], acc);
    }
  }
  return acc;
}

}  // namespace vivace
