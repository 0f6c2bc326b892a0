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

}  // namespace

float RowProductReference(QuantType type, const std::byte* row, std::size_t k,
                          const ActivationRow& activation, const float* x) {
  if (FactsOf(type).block_values == 1) return FloatProduct(type, row, k, x);
  float acc = 0;
  for (std::size_t b = 0; b < k / 32; ++b) {
    const SubBlock block = ReadSubBlock(type, row, b);
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
    acc = std::fma(static_cast<float>(dot), block.d * activation.d[b], acc);
    if (block.has_min) {
      acc = std::fma(static_cast<float>(sum), -(block.dmin * activation.d[b]), acc);
    }
  }
  return acc;
}

}  // namespace vivace
