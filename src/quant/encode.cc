#include "quant/encode.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "quant/blocks.h"
#include "quant/encode_super.h"
#include "quant/fit.h"
#include "quant/half.h"

namespace vivace {
namespace {

using Values = std::span<const float, 32>;

// Toward zero, as the formats' definition rounds: "+ 0.5" comes from the caller.
int TruncateWithin(float value, int highest) {
  if (value >= static_cast<float>(highest)) return highest;
  return value > 0 ? static_cast<int>(value) : 0;
}

// Value i and value i + 16 share a byte; the fifth bit, if any, lies apart.
template <class Block>
void SetCode(Block& block, std::size_t i, int code) {
  std::uint8_t& byte = block.quants[i % 16];
  byte = static_cast<std::uint8_t>(byte | (code & 15) << (i / 16 * 4));
  if constexpr (requires { block.high; }) {
    block.high[i / 8] = static_cast<std::uint8_t>(block.high[i / 8] | (code >> 4) << (i % 8));
  }
}

// Q4_0 and Q5_0: codes around a middle; the peak becomes code 0.
template <class Block>
Block EncodeCentred(Values x, int middle) {
  Block block = {};
  const float d = Peak(x) / static_cast<float>(-middle);
  const float inverse = d != 0 ? 1 / d : 0;
  block.d = FloatToHalf(d);
  for (std::size_t i = 0; i < 32; ++i) {
    const float shifted = x[i] * inverse + (static_cast<float>(middle) + 0.5F);
    SetCode(block, i, TruncateWithin(shifted, 2 * middle - 1));
  }
  return block;
}

// Q4_1 and Q5_1: codes from the least value up.
template <class Block>
Block EncodeFromMin(Values x, int highest) {
  Block block = {};
  const auto [min, max] = std::minmax_element(x.begin(), x.end());
  const float d = (*max - *min) / static_cast<float>(highest);
  const float inverse = d != 0 ? 1 / d : 0;
  block.d = FloatToHalf(d);
  block.m = FloatToHalf(*min);
  for (std::size_t i = 0; i < 32; ++i) {
    SetCode(block, i, TruncateWithin((x[i] - *min) * inverse + 0.5F, highest));
  }
  return block;
}

BlockQ8_0 EncodeQ8_0(Values x) {
  BlockQ8_0 block = {};
  const float d = std::fabs(Peak(x)) / 127;
  const float inverse = d != 0 ? 1 / d : 0;
  block.d = FloatToHalf(d);
  for (std::size_t i = 0; i < 32; ++i) {
    block.quants[i] = static_cast<std::int8_t>(RoundWithin(std::round(x[i] * inverse), -127, 127));
  }
  return block;
}

BlockIQ4_NL EncodeIQ4_NL(Values x) {
  constexpr CodeBook kBook(kIq4Values);
  BlockIQ4_NL block = {};
  block.d = FloatToHalf(FitScale(x, kBook));
  const float d = HalfToFloat(block.d);
  const float inverse = d != 0 ? 1 / d : 0;
  for (std::size_t i = 0; i < 32; ++i) SetCode(block, i, kBook.Nearest(x[i] * inverse));
  return block;
}

// The nearest of MXFP4's values, the first of equals.
int NearestMxfp4(float value) {
  int best = 0;
  for (int code = 1; code < 16; ++code) {
    const auto miss = [value](int c) {
      return std::fabs(static_cast<float>(kMxfp4Doubled[c]) - value);
    };
    if (miss(code) < miss(best)) best = code;
  }
  return best;
}

BlockMXFP4 EncodeMXFP4(Values x) {
  BlockMXFP4 block = {};
  const float peak = std::fabs(Peak(x));
  // The largest value is 6 = 1.5 * 2^2: the peak's exponent minus 2, with a bias of 127.
  const int exponent = peak > 0 ? std::clamp(std::ilogb(peak), -125, 128) + 125 : 0;
  block.exponent = static_cast<std::uint8_t>(exponent);
  for (std::size_t i = 0; i < 32; ++i) {
    SetCode(block, i, NearestMxfp4(std::ldexp(x[i], 128 - exponent)));
  }
  return block;
}

template <class Block, class... Extra>
void EncodeBlocks(Block (*encode)(Values, Extra...), const float* x, std::size_t k, std::byte* row,
                  Extra... extra) {
  for (std::size_t i = 0; i < k / 32; ++i) {
    const Block block = encode(Values(x + 32 * i, 32), extra...);
    std::memcpy(row + i * sizeof(Block), &block, sizeof(Block));
  }
}

void EncodeHalves(std::uint16_t (*convert)(float), const float* x, std::size_t k, std::byte* row) {
  for (std::size_t i = 0; i < k; ++i) {
    const std::uint16_t half = convert(x[i]);
    std::memcpy(row + 2 * i, &half, sizeof(half));
  }
}

void EncodeSuperBlocks(QuantType type, const float* x, std::size_t k, std::byte* row) {
  const std::size_t bytes = FactsOf(type).block_bytes;
  for (std::size_t i = 0; i < k / 256; ++i) {
    EncodeSuperBlock(type, std::span<const float, 256>(x + 256 * i, 256), row + i * bytes);
  }
}

}  // namespace

void EncodeRow(QuantType type, const float* x, std::size_t k, std::byte* row) {
  switch (type) {
    case QuantType::kF32:
      std::memcpy(row, x, k * sizeof(float));
      return;
    case QuantType::kF16:
      return EncodeHalves(FloatToHalf, x, k, row);
    case QuantType::kBF16:
      return EncodeHalves(FloatToBfloat16, x, k, row);
    case QuantType::kQ4_0:
      return EncodeBlocks(EncodeCentred<BlockQ4_0>, x, k, row, 8);
    case QuantType::kQ5_0:
      return EncodeBlocks(EncodeCentred<BlockQ5_0>, x, k, row, 16);
    case QuantType::kQ4_1:
      return EncodeBlocks(EncodeFromMin<BlockQ4_1>, x, k, row, 15);
    case QuantType::kQ5_1:
      return EncodeBlocks(EncodeFromMin<BlockQ5_1>, x, k, row, 31);
    case QuantType::kQ8_0:
      return EncodeBlocks(EncodeQ8_0, x, k, row);
    case QuantType::kIQ4_NL:
      return EncodeBlocks(EncodeIQ4_NL, x, k, row);
    case QuantType::kMXFP4:
      return EncodeBlocks(EncodeMXFP4, x, k, row);
    default:
      return EncodeSuperBlocks(type, x, k, row);
  }
}

}  // namespace vivace
