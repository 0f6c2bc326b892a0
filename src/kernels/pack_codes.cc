#include "kernels/pack_codes.h"

#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "quant/blocks.h"

namespace vivace {
namespace {

template <class Block>
Block Load(const std::byte* row, std::size_t index) {
  Block block;
  std::memcpy(&block, row + index * sizeof(Block), sizeof(Block));
  return block;
}

template <class Block>
void Store(const Block& block, std::byte* row, std::size_t index) {
  std::memcpy(row + index * sizeof(Block), &block, sizeof(Block));
}

std::uint8_t Byte(int value) { return static_cast<std::uint8_t>(value); }

// Eight bytes, byte i = bit i: bit i is masked out of a copy of the byte at place i, and
// adding 0x7f carries whatever it is into bit 7.
std::uint64_t SpreadBits(std::uint8_t bits) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const std::uint64_t picked = (bits * kOnes) & 0x8040201008040201;
  return (picked + 0x7f * kOnes) >> 7 & kOnes;
}

// Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL, MXFP4: byte i holds values i and i + 16.
template <class Block>
BlockFields LoadPlain(const Block& block) {
  BlockFields fields = {};
  if constexpr (requires { block.d; }) fields.d = block.d;
  if constexpr (requires { block.m; }) fields.m = block.m;
  if constexpr (requires { block.exponent; }) fields.scales[0] = block.exponent;
  for (int i = 0; i < 16; ++i) {
    fields.codes[i] = block.quants[i] & 15;
    fields.codes[i + 16] = block.quants[i] >> 4;
  }
  if constexpr (requires { block.high; }) {
    for (int i = 0; i < 4; ++i) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, &fields.codes[8 * i], sizeof eight);
      eight |= SpreadBits(block.high[i]) << 4;
      std::memcpy(&fields.codes[8 * i], &eight, sizeof eight);
    }
  }
  return fields;
}

template <class Block>
void StorePlain(const BlockFields& fields, std::byte* row, std::size_t index) {
  Block block = {};
  if constexpr (requires { block.d; }) block.d = fields.d;
  if constexpr (requires { block.m; }) block.m = fields.m;
  if constexpr (requires { block.exponent; }) block.exponent = fields.scales[0];
  for (int i = 0; i < 16; ++i) {
    block.quants[i] = Byte((fields.codes[i] & 15) | (fields.codes[i + 16] & 15) << 4);
  }
  if constexpr (requires { block.high; }) {
    for (int i = 0; i < 32; ++i) {
      block.high[i / 8] = Byte(block.high[i / 8] | (fields.codes[i] >> 4) << (i % 8));
    }
  }
  Store(block, row, index);
}

BlockFields LoadQ8_0(const std::byte* row, std::size_t index) {
  const auto block = Load<BlockQ8_0>(row, index);
  BlockFields fields = {};
  fields.d = block.d;
  for (int i = 0; i < 32; ++i) fields.codes[i] = Byte(block.quants[i] ^ 0x80);
  return fields;
}

void StoreQ8_0(const BlockFields& fields, std::byte* row, std::size_t index) {
  BlockQ8_0 block = {};
  block.d = fields.d;
  for (int i = 0; i < 32; ++i) block.quants[i] = static_cast<std::int8_t>(fields.codes[i] ^ 0x80);
  Store(block, row, index);
}

// Scale and min j of the 12 packed bytes: 0-3 in the low six bits of bytes j and j + 4,
// 4-7 as nibbles of byte j + 4 with their top bits above the earlier ones.
template <class Block>
BlockFields LoadQ45K(const std::byte* row, std::size_t index) {
  const auto block = Load<Block>(row, index / 8);
  const std::size_t j = index % 8;
  const std::uint8_t* s = block.scales;
  BlockFields fields = {};
  fields.d = block.d;
  fields.m = block.dmin;
  fields.scales[0] = j < 4 ? s[j] & 63 : Byte((s[j + 4] & 15) | (s[j - 4] >> 6) << 4);
  fields.scales[1] = j < 4 ? s[j + 4] & 63 : Byte(s[j + 4] >> 4 | (s[j] >> 6) << 4);
  for (std::size_t i = 0; i < 32; ++i) {
    fields.codes[i] = block.quants[j / 2 * 32 + i] >> (4 * (j % 2)) & 15;
    if constexpr (requires { block.high; }) {
      fields.codes[i] = Byte(fields.codes[i] | (block.high[i] >> j & 1) << 4);
    }
  }
  return fields;
}

template <class Block>
void StoreQ45K(const BlockFields& fields, std::byte* row, std::size_t index) {
  auto block = Load<Block>(row, index / 8);
  const std::size_t j = index % 8;
  std::uint8_t* s = block.scales;
  block.d = fields.d;
  block.dmin = fields.m;
  const int scale = fields.scales[0];
  const int min = fields.scales[1];
  if (j < 4) {
    s[j] = Byte(s[j] | scale);
    s[j + 4] = Byte(s[j + 4] | min);
  } else {
    s[j + 4] = Byte(s[j + 4] | (scale & 15) | (min & 15) << 4);
    s[j - 4] = Byte(s[j - 4] | (scale >> 4) << 6);
    s[j] = Byte(s[j] | (min >> 4) << 6);
  }
  for (std::size_t i = 0; i < 32; ++i) {
    std::uint8_t& byte = block.quants[j / 2 * 32 + i];
    byte = Byte(byte | (fields.codes[i] & 15) << (4 * (j % 2)));
    if constexpr (requires { block.high; }) {
      block.high[i] = Byte(block.high[i] | (fields.codes[i] >> 4) << j);
    }
  }
  Store(block, row, index / 8);
}

// Block j of Q6_K: quarter j % 4 of half j / 4.
BlockFields LoadQ6_K(const std::byte* row, std::size_t index) {
  const auto block = Load<BlockQ6_K>(row, index / 8);
  const std::size_t j = index % 8;
  const std::size_t half = j / 4;
  const std::size_t quarter = j % 4;
  BlockFields fields = {};
  fields.d = block.d;
  fields.scales[0] = Byte(block.scales[2 * j]);
  fields.scales[1] = Byte(block.scales[2 * j + 1]);
  for (std::size_t i = 0; i < 32; ++i) {
    const int low = block.low[half * 64 + quarter % 2 * 32 + i] >> (4 * (quarter / 2)) & 15;
    const int high = block.high[half * 32 + i] >> (2 * quarter) & 3;
    fields.codes[i] = Byte(low | high << 4);
  }
  return fields;
}

void StoreQ6_K(const BlockFields& fields, std::byte* row, std::size_t index) {
  auto block = Load<BlockQ6_K>(row, index / 8);
  const std::size_t j = index % 8;
  const std::size_t half = j / 4;
  const std::size_t quarter = j % 4;
  block.d = fields.d;
  block.scales[2 * j] = static_cast<std::int8_t>(fields.scales[0]);
  block.scales[2 * j + 1] = static_cast<std::int8_t>(fields.scales[1]);
  for (std::size_t i = 0; i < 32; ++i) {
    std::uint8_t& low = block.low[half * 64 + quarter % 2 * 32 + i];
    std::uint8_t& high = block.high[half * 32 + i];
    low = Byte(low | (fields.codes[i] & 15) << (4 * (quarter / 2)));
    high = Byte(high | (fields.codes[i] >> 4) << (2 * quarter));
  }
  Store(block, row, index / 8);
}

// Block j of Q2_K and Q3_K: bits 2 * (j % 4) and up of 32 bytes.
template <class Block>
void LoadTwoBits(const Block& block, std::size_t j, BlockFields& fields) {
  for (std::size_t i = 0; i < 32; ++i) {
    fields.codes[i] = block.quants[j / 4 * 32 + i] >> (2 * (j % 4)) & 3;
  }
}

template <class Block>
void StoreTwoBits(const BlockFields& fields, std::size_t j, Block& block) {
  for (std::size_t i = 0; i < 32; ++i) {
    std::uint8_t& byte = block.quants[j / 4 * 32 + i];
    byte = Byte(byte | (fields.codes[i] & 3) << (2 * (j % 4)));
  }
}

BlockFields LoadQ2_K(const std::byte* row, std::size_t index) {
  const auto block = Load<BlockQ2_K>(row, index / 8);
  const std::size_t j = index % 8;
  BlockFields fields = {};
  fields.d = block.d;
  fields.m = block.dmin;
  for (std::size_t half = 0; half < 2; ++half) fields.scales[half] = block.scales[2 * j + half];
  LoadTwoBits(block, j, fields);
  return fields;
}

void StoreQ2_K(const BlockFields& fields, std::byte* row, std::size_t index) {
  auto block = Load<BlockQ2_K>(row, index / 8);
  const std::size_t j = index % 8;
  block.d = fields.d;
  block.dmin = fields.m;
  for (std::size_t half = 0; half < 2; ++half) block.scales[2 * j + half] = fields.scales[half];
  StoreTwoBits(fields, j, block);
  Store(block, row, index / 8);
}

// Scale s of Q3_K: its low four bits are a nibble of byte s % 8, its top two bits lie in
// byte 8 + s % 4.
BlockFields LoadQ3_K(const std::byte* row, std::size_t index) {
  const auto block = Load<BlockQ3_K>(row, index / 8);
  const std::size_t j = index % 8;
  BlockFields fields = {};
  fields.d = block.d;
  for (std::size_t half = 0; half < 2; ++half) {
    const std::size_t s = 2 * j + half;
    const int low = block.scales[s % 8] >> (4 * (s / 8)) & 15;
    fields.scales[half] = Byte(low | (block.scales[8 + s % 4] >> (2 * (s / 4)) & 3) << 4);
  }
  LoadTwoBits(block, j, fields);
  for (std::size_t i = 0; i < 32; ++i) {
    fields.codes[i] = Byte(fields.codes[i] | (block.high[i] >> j & 1) << 2);
  }
  return fields;
}

void StoreQ3_K(const BlockFields& fields, std::byte* row, std::size_t index) {
  auto block = Load<BlockQ3_K>(row, index / 8);
  const std::size_t j = index % 8;
  block.d = fields.d;
  for (std::size_t half = 0; half < 2; ++half) {
    const std::size_t s = 2 * j + half;
    std::uint8_t& low = block.scales[s % 8];
    std::uint8_t& top = block.scales[8 + s % 4];
    low = Byte(low | (fields.scales[half] & 15) << (4 * (s / 8)));
    top = Byte(top | (fields.scales[half] >> 4) << (2 * (s / 4)));
  }
  StoreTwoBits(fields, j, block);
  for (std::size_t i = 0; i < 32; ++i) {
    block.high[i] = Byte(block.high[i] | (fields.codes[i] >> 2) << j);
  }
  Store(block, row, index / 8);
}

BlockFields LoadIQ4_XS(const std::byte* row, std::size_t index) {
  const auto block = Load<BlockIQ4_XS>(row, index / 8);
  const std::size_t j = index % 8;
  BlockFields fields = {};
  fields.d = block.d;
  const int low = block.scales_low[j / 2] >> (4 * (j % 2)) & 15;
  fields.scales[0] = Byte(low | (block.scales_high >> (2 * j) & 3) << 4);
  for (std::size_t i = 0; i < 16; ++i) {
    fields.codes[i] = block.quants[16 * j + i] & 15;
    fields.codes[i + 16] = block.quants[16 * j + i] >> 4;
  }
  return fields;
}

void StoreIQ4_XS(const BlockFields& fields, std::byte* row, std::size_t index) {
  auto block = Load<BlockIQ4_XS>(row, index / 8);
  const std::size_t j = index % 8;
  block.d = fields.d;
  std::uint8_t& low = block.scales_low[j / 2];
  low = Byte(low | (fields.scales[0] & 15) << (4 * (j % 2)));
  block.scales_high =
      static_cast<std::uint16_t>(block.scales_high | (fields.scales[0] >> 4) << (2 * j));
  for (std::size_t i = 0; i < 16; ++i) {
    block.quants[16 * j + i] = Byte(fields.codes[i] | fields.codes[i + 16] << 4);
  }
  Store(block, row, index / 8);
}

[[noreturn]] void NoBlocks() {
  CheckFailed(__FILE__, __LINE__, "the fields of a type without blocks");
}

}  // namespace

BlockFields LoadFields(QuantType type, const std::byte* row, std::size_t index) {
  switch (type) {
    case QuantType::kQ4_0:
      return LoadPlain(Load<BlockQ4_0>(row, index));
    case QuantType::kQ4_1:
      return LoadPlain(Load<BlockQ4_1>(row, index));
    case QuantType::kQ5_0:
      return LoadPlain(Load<BlockQ5_0>(row, index));
    case QuantType::kQ5_1:
      return LoadPlain(Load<BlockQ5_1>(row, index));
    case QuantType::kIQ4_NL:
      return LoadPlain(Load<BlockIQ4_NL>(row, index));
    case QuantType::kMXFP4:
      return LoadPlain(Load<BlockMXFP4>(row, index));
    case QuantType::kQ8_0:
      return LoadQ8_0(row, index);
    case QuantType::kQ2_K:
      return LoadQ2_K(row, index);
    case QuantType::kQ3_K:
      return LoadQ3_K(row, index);
    case QuantType::kQ4_K:
      return LoadQ45K<BlockQ4_K>(row, index);
    case QuantType::kQ5_K:
      return LoadQ45K<BlockQ5_K>(row, index);
    case QuantType::kQ6_K:
      return LoadQ6_K(row, index);
    case QuantType::kIQ4_XS:
      return LoadIQ4_XS(row, index);
    default:
      NoBlocks();
  }
}

void StoreFields(QuantType type, const BlockFields& fields, std::byte* row, std::size_t index) {
  switch (type) {
    case QuantType::kQ4_0:
      return StorePlain<BlockQ4_0>(fields, row, index);
    case QuantType::kQ4_1:
      return StorePlain<BlockQ4_1>(fields, row, index);
    case QuantType::kQ5_0:
      return StorePlain<BlockQ5_0>(fields, row, index);
    case QuantType::kQ5_1:
      return StorePlain<BlockQ5_1>(fields, row, index);
    case QuantType::kIQ4_NL:
      return StorePlain<BlockIQ4_NL>(fields, row, index);
    case QuantType::kMXFP4:
      return StorePlain<BlockMXFP4>(fields, row, index);
    case QuantType::kQ8_0:
      return StoreQ8_0(fields, row, index);
    case QuantType::kQ2_K:
      return StoreQ2_K(fields, row, index);
    case QuantType::kQ3_K:
      return StoreQ3_K(fields, row, index);
    case QuantType::kQ4_K:
      return StoreQ45K<BlockQ4_K>(fields, row, index);
    case QuantType::kQ5_K:
      return StoreQ45K<BlockQ5_K>(fields, row, index);
    case QuantType::kQ6_K:
      return StoreQ6_K(fields, row, index);
    case QuantType::kIQ4_XS:
      return StoreIQ4_XS(fields, row, index);
    default:
      NoBlocks();
  }
}

}  // namespace vivace
