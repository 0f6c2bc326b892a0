#include "quant/decode.h"

#include <cstdint>
#include <cstring>

#include "quant/half.h"
#include "quant/sub_blocks.h"

namespace vivace {
namespace {

void DecodeHalves(const std::byte* row, std::size_t k, float* out,
                  float (*convert)(std::uint16_t)) {
  for (std::size_t i = 0; i < k; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, row + 2 * i, sizeof(half));
    out[i] = convert(half);
  }
}

// Products are formed in the order of the formats' definition: scale first, then value.
void DecodeSubBlock(const SubBlock& block, float* out) {
  for (int i = 0; i < 32; ++i) {
    const float scale = block.d * static_cast<float>(block.scale[i / 16]);
    const float value = scale * static_cast<float>(block.q[i]);
    out[i] = block.has_min ? value - block.dmin * static_cast<float>(block.min[i / 16]) : value;
  }
}

}  // namespace

void DecodeRow(QuantType type, const std::byte* row, std::size_t k, float* out) {
  switch (type) {
    case QuantType::kF32:
      std::memcpy(out, row, k * sizeof(float));
      return;
    case QuantType::kF16:
      DecodeHalves(row, k, out, HalfToFloat);
      return;
    case QuantType::kBF16:
      DecodeHalves(row, k, out, Bfloat16ToFloat);
      return;
    default:
      for (std::size_t block = 0; block < k / 32; ++block) {
        DecodeSubBlock(ReadSubBlock(type, row, block), out + 32 * block);
      }
  }
}

}  // namespace vivace
