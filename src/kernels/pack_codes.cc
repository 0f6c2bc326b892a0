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

// Q4_0, Q4_1, Q5_0, Q5_1: byte i holds values i and i + 16.
template <class Block>
BlockFields LoadPlain(const Block& block) {
  BlockFields fields = {};
  fields.d = block.d;
  if constexpr (requires { block.m; }) fields.m = block.m;
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
  block.d = fields.d;
  if constexpr (requires { block.m; }) block.m = fields.m;
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
  fields.scale = j < 4 ? s[j] & 63 : Byte((s[j + 4] & 15) | (s[j - 4] >> 6) << 4);
  fields.min = j < 4 ? s[j + 4] & 63 : Byte(s[j + 4] >> 4 | (s[j] >> 6) << 4);
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
  if (j < 4) {
    s[j] = Byte(s[j] | fields.scale);
    s[j + 4] = Byte(s[j + 4] | fields.min);
  } else {
    s[j + 4] = Byte(s[j + 4] | (fields.scale & 15) | (fields.min & 15) << 4);
    s[j - 4] = Byte(s[j - 4] | (fields.scale >> 4) << 6);
    s[j] = Byte(s[j] | (fields.min >> 4) << 6);
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
  fields.sub_scales[0] = block.scales[2 * j];
  fields.sub_scales[1] = block.scales[2 * j + 1];
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
  block.scales[2 * j] = fields.sub_scales[0];
  block.scales[2 * j + 1] = fields.sub_scales[1];
  for (std::size_t i = 0; i < 32; ++i) {
    std::uint8_t& low = block.low[half * 64 + quarter % 2 * 32 + i];
    std::uint8_t& high = block.high[half * 32 + i];
    low = Byte(low | (fields.codes[i] & 15) << (4 * (quarter / 2)));
    high = Byte(high | (fields.codes[i] >> 4) << (2 * quarter));
  }
  Store(block, row, index / 8);
}

[[noreturn]] void NoPackedForm() {
  CheckFailed(__FILE__, __LINE__, "a type without a packed form");
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
    case QuantType::kQ8_0:
      return LoadQ8_0(row, index);
    case QuantType::kQ4_K:
      return LoadQ45K<BlockQ4_K>(row, index);
    case QuantType::kQ6_K:
      return LoadQ6_K(row, index);
    default:
      NoPackedForm();
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
    case QuantType::kQ8_0:
      return StoreQ8_0(fields, row, index);
    case QuantType::kQ4_K:
      return StoreQ45K<BlockQ4_K>(fields, row, index);
    case QuantType::kQ6_K:
      return StoreQ6_K(fields, row, index);
    default:
      NoPackedForm();
  }
}

}  // namespace vivace
