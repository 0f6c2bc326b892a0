#include "quant/sub_blocks.h"

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "quant/blocks.h"
#include "quant/half.h"

namespace vivace {
namespace {

template <class Block>
Block Load(const std::byte* row, std::size_t index) {
  Block block;
  std::memcpy(&block, row + index * sizeof(Block), sizeof(Block));
  return block;
}

SubBlock Plain(std::uint16_t d) {
  return {
      .q = {}, .scale = {1, 1}, .min = {0, 0}, .d = HalfToFloat(d), .dmin = 0, .has_min = false};
}

int Nibble(const std::uint8_t* quants, int i) {
  return i < 16 ? quants[i] & 15 : quants[i - 16] >> 4;
}

// The fifth bit of value i in its place; 0 for formats of four bits.
template <class Block>
int FifthBit(const Block& block, int i) {
  if constexpr (requires { block.high; }) return (block.high[i / 8] >> (i % 8) & 1) << 4;
  return 0;
}

template <class Block>
SubBlock WithNibbles(const Block& block, int offset) {
  SubBlock out = Plain(block.d);
  for (int i = 0; i < 32; ++i) {
    const int q = Nibble(block.quants, i) | FifthBit(block, i);
    out.q[i] = static_cast<std::int16_t>(q - offset);
  }
  if constexpr (requires { block.m; }) {
    out.has_min = true;
    out.dmin = -HalfToFloat(block.m);
    out.min[0] = out.min[1] = 1;
  }
  return out;
}

template <class Block>
SubBlock WithTable(const Block& block, float d, const std::int8_t* table) {
  SubBlock out = Plain(0);
  out.d = d;
  for (int i = 0; i < 32; ++i) out.q[i] = table[Nibble(block.quants, i)];
  return out;
}

SubBlock ReadQ8_0(const BlockQ8_0& block) {
  SubBlock out = Plain(block.d);
  for (int i = 0; i < 32; ++i) out.q[i] = block.quants[i];
  return out;
}

// The 6-bit scale and min number j of Q4_K and Q5_K.
void ReadScaleAndMin(const std::uint8_t* packed, std::size_t j, SubBlock& out) {
  int scale = 0;
  int min = 0;
  if (j < 4) {
    scale = packed[j] & 63;
    min = packed[j + 4] & 63;
  } else {
    scale = (packed[j + 4] & 15) | (packed[j - 4] >> 6) << 4;
    min = packed[j + 4] >> 4 | (packed[j] >> 6) << 4;
  }
  out.scale[0] = out.scale[1] = scale;
  out.min[0] = out.min[1] = min;
}

// Bit j of byte i: the fifth bit of value i of sub-block j; 0 for Q4_K.
template <class Block>
int FifthBitK(const Block& block, std::size_t i, std::size_t j) {
  if constexpr (requires { block.high; }) return (block.high[i] >> j & 1) << 4;
  return 0;
}

// Q4_K and Q5_K: sub-blocks 2n and 2n + 1 share 32 bytes, low and high nibbles.
template <class Block>
SubBlock ReadQ45K(const Block& block, std::size_t j) {
  SubBlock out = Plain(block.d);
  out.has_min = true;
  out.dmin = HalfToFloat(block.dmin);
  ReadScaleAndMin(block.scales, j, out);
  for (std::size_t i = 0; i < 32; ++i) {
    const int byte = block.quants[j / 2 * 32 + i];
    const int low = j % 2 == 0 ? byte & 15 : byte >> 4;
    out.q[i] = static_cast<std::int16_t>(low | FifthBitK(block, i, j));
  }
  return out;
}

SubBlock ReadQ6_K(const BlockQ6_K& block, std::size_t j) {
  SubBlock out = Plain(block.d);
  const std::size_t half = j / 4;     // 128 values: 64 bytes of low, 32 of high bits
  const std::size_t quarter = j % 4;  // 32 values of them
  for (std::size_t i = 0; i < 32; ++i) {
    const int low = block.low[half * 64 + quarter % 2 * 32 + i];
    const int high = block.high[half * 32 + i] >> (2 * quarter) & 3;
    out.q[i] = static_cast<std::int16_t>(((quarter < 2 ? low & 15 : low >> 4) | high << 4) - 32);
  }
  out.scale[0] = block.scales[2 * j];
  out.scale[1] = block.scales[2 * j + 1];
  return out;
}

SubBlock ReadQ2_K(const BlockQ2_K& block, std::size_t j) {
  SubBlock out = Plain(block.d);
  out.has_min = true;
  out.dmin = HalfToFloat(block.dmin);
  for (std::size_t i = 0; i < 32; ++i) {
    out.q[i] = static_cast<std::int16_t>(block.quants[j / 4 * 32 + i] >> (2 * (j % 4)) & 3);
  }
  for (std::size_t half = 0; half < 2; ++half) {
    out.scale[half] = block.scales[2 * j + half] & 15;
    out.min[half] = block.scales[2 * j + half] >> 4;
  }
  return out;
}

// Scale number s of Q3_K: low 4 bits in bytes 0-7, high 2 bits in bytes 8-11.
int ScaleQ3_K(const std::uint8_t* scales, std::size_t s) {
  const int low = s < 8 ? scales[s] & 15 : scales[s - 8] >> 4;
  const int high = scales[8 + s % 4] >> (2 * (s / 4)) & 3;
  return (low | high << 4) - 32;
}

SubBlock ReadQ3_K(const BlockQ3_K& block, std::size_t j) {
  SubBlock out = Plain(block.d);
  for (std::size_t i = 0; i < 32; ++i) {
    const int low = block.quants[j / 4 * 32 + i] >> (2 * (j % 4)) & 3;
    const int high = block.high[i] >> j & 1;
    out.q[i] = static_cast<std::int16_t>(low - (high != 0 ? 0 : 4));
  }
  out.scale[0] = ScaleQ3_K(block.scales, 2 * j);
  out.scale[1] = ScaleQ3_K(block.scales, 2 * j + 1);
  return out;
}

SubBlock ReadIQ4_XS(const BlockIQ4_XS& block, std::size_t j) {
  SubBlock out = Plain(block.d);
  const int low = block.scales_low[j / 2] >> (4 * (j % 2)) & 15;
  const int high = block.scales_high >> (2 * j) & 3;
  out.scale[0] = out.scale[1] = (low | high << 4) - 32;
  for (int i = 0; i < 32; ++i) out.q[i] = kIq4Values[Nibble(block.quants + j * 16, i)];
  return out;
}

// Sub-block j of a super-block of 256 values.
SubBlock ReadFromSuperBlock(QuantType type, const std::byte* row, std::size_t super,
                            std::size_t j) {
  switch (type) {
    case QuantType::kQ2_K:
      return ReadQ2_K(Load<BlockQ2_K>(row, super), j);
    case QuantType::kQ3_K:
      return ReadQ3_K(Load<BlockQ3_K>(row, super), j);
    case QuantType::kQ4_K:
      return ReadQ45K(Load<BlockQ4_K>(row, super), j);
    case QuantType::kQ5_K:
      return ReadQ45K(Load<BlockQ5_K>(row, super), j);
    case QuantType::kQ6_K:
      return ReadQ6_K(Load<BlockQ6_K>(row, super), j);
    case QuantType::kIQ4_XS:
      return ReadIQ4_XS(Load<BlockIQ4_XS>(row, super), j);
    default:
      CheckFailed(__FILE__, __LINE__, "ReadSubBlock of a type without blocks");
  }
}

}  // namespace

SubBlock ReadSubBlock(QuantType type, const std::byte* row, std::size_t index) {
  switch (type) {
    case QuantType::kQ4_0:
      return WithNibbles(Load<BlockQ4_0>(row, index), 8);
    case QuantType::kQ4_1:
      return WithNibbles(Load<BlockQ4_1>(row, index), 0);
    case QuantType::kQ5_0:
      return WithNibbles(Load<BlockQ5_0>(row, index), 16);
    case QuantType::kQ5_1:
      return WithNibbles(Load<BlockQ5_1>(row, index), 0);
    case QuantType::kQ8_0:
      return ReadQ8_0(Load<BlockQ8_0>(row, index));
    case QuantType::kIQ4_NL: {
      const auto block = Load<BlockIQ4_NL>(row, index);
      return WithTable(block, HalfToFloat(block.d), kIq4Values);
    }
    case QuantType::kMXFP4: {
      const auto block = Load<BlockMXFP4>(row, index);
      return WithTable(block, std::ldexp(1.0F, block.exponent - 128), kMxfp4Doubled);
    }
    default:
      return ReadFromSuperBlock(type, row, index / 8, index % 8);
  }
}

}  // namespace vivace
