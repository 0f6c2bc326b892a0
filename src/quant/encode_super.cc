#include "quant/encode_super.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "quant/blocks.h"
#include "quant/fit.h"
#include "quant/half.h"

namespace vivace {
namespace {

// A super-block before it is packed. `scale` and `min` are of 8 or 16 groups; signed
// scales are stored as such.
struct Codes {
  std::uint8_t code[256] = {};
  int scale[16] = {};
  int min[16] = {};
  std::uint16_t d = 0;
  std::uint16_t dmin = 0;
};

// value = d * scale * code value, scales from lowest_scale to -lowest_scale - 1.
Codes Symmetric(std::span<const float, 256> x, std::size_t group_values, const CodeBook& book,
                int lowest_scale) {
  const std::size_t groups = 256 / group_values;
  float scales[16] = {};
  for (std::size_t group = 0; group < groups; ++group) {
    scales[group] = FitScale(x.subspan(group * group_values, group_values), book);
  }
  Codes out;
  out.d = FloatToHalf(Peak({scales, groups}) / static_cast<float>(lowest_scale));
  const float d = HalfToFloat(out.d);
  for (std::size_t group = 0; group < groups; ++group) {
    if (d != 0) {
      out.scale[group] = RoundWithin(scales[group] / d, lowest_scale, -lowest_scale - 1);
    }
    const float scale = d * static_cast<float>(out.scale[group]);
    const float inverse = scale != 0 ? 1 / scale : 0;
    for (std::size_t i = group * group_values; i < (group + 1) * group_values; ++i) {
      out.code[i] = static_cast<std::uint8_t>(book.Nearest(x[i] * inverse));
    }
  }
  return out;
}

// value = d * scale * code - dmin * min, scales and mins from 0 to highest_scale.
Codes WithMin(std::span<const float, 256> x, std::size_t group_values, int highest_code,
              int highest_scale) {
  const std::size_t groups = 256 / group_values;
  ScaleAndMin fits[16] = {};
  ScaleAndMin largest = {0, 0};
  for (std::size_t group = 0; group < groups; ++group) {
    fits[group] = FitScaleAndMin(x.subspan(group * group_values, group_values), highest_code);
    largest.scale = std::max(largest.scale, fits[group].scale);
    largest.min = std::max(largest.min, fits[group].min);
  }
  Codes out;
  out.d = FloatToHalf(largest.scale / static_cast<float>(highest_scale));
  out.dmin = FloatToHalf(largest.min / static_cast<float>(highest_scale));
  const float d = HalfToFloat(out.d);
  const float dmin = HalfToFloat(out.dmin);
  for (std::size_t group = 0; group < groups; ++group) {
    if (d > 0) out.scale[group] = RoundWithin(fits[group].scale / d, 0, highest_scale);
    if (dmin > 0) out.min[group] = RoundWithin(fits[group].min / dmin, 0, highest_scale);
    const float scale = d * static_cast<float>(out.scale[group]);
    const float min = dmin * static_cast<float>(out.min[group]);
    const float inverse = scale > 0 ? 1 / scale : 0;
    for (std::size_t i = group * group_values; i < (group + 1) * group_values; ++i) {
      out.code[i] = static_cast<std::uint8_t>(RoundWithin((x[i] + min) * inverse, 0, highest_code));
    }
  }
  return out;
}

template <class T>
void SetBits(T& field, int value, std::size_t shift) {
  field = static_cast<T>(field | value << shift);
}

// The bytes' places are those of sub_blocks.cc, which see.
BlockQ2_K PackQ2_K(const Codes& codes) {
  BlockQ2_K block = {.scales = {}, .quants = {}, .d = codes.d, .dmin = codes.dmin};
  for (std::size_t i = 0; i < 256; ++i) {
    SetBits(block.quants[i / 128 * 32 + i % 32], codes.code[i], i % 128 / 32 * 2);
  }
  for (std::size_t group = 0; group < 16; ++group) {
    SetBits(block.scales[group], codes.scale[group], 0);
    SetBits(block.scales[group], codes.min[group], 4);
  }
  return block;
}

BlockQ3_K PackQ3_K(const Codes& codes) {
  BlockQ3_K block = {.high = {}, .quants = {}, .scales = {}, .d = codes.d};
  for (std::size_t i = 0; i < 256; ++i) {
    SetBits(block.quants[i / 128 * 32 + i % 32], codes.code[i] & 3, i % 128 / 32 * 2);
    SetBits(block.high[i % 32], codes.code[i] >> 2, i / 32);
  }
  for (std::size_t group = 0; group < 16; ++group) {
    const int scale = codes.scale[group] + 32;
    SetBits(block.scales[group % 8], scale & 15, group / 8 * 4);
    SetBits(block.scales[8 + group % 4], scale >> 4, group / 4 * 2);
  }
  return block;
}

void PackScaleAndMin(const Codes& codes, std::uint8_t* packed) {
  for (std::size_t j = 0; j < 4; ++j) {
    SetBits(packed[j], codes.scale[j], 0);
    SetBits(packed[j + 4], codes.min[j], 0);
    SetBits(packed[j + 8], codes.scale[j + 4] & 15, 0);
    SetBits(packed[j + 8], codes.min[j + 4] & 15, 4);
    SetBits(packed[j], codes.scale[j + 4] >> 4, 6);
    SetBits(packed[j + 4], codes.min[j + 4] >> 4, 6);
  }
}

template <class Block>
Block PackQ45K(const Codes& codes) {
  Block block = {};
  block.d = codes.d;
  block.dmin = codes.dmin;
  PackScaleAndMin(codes, block.scales);
  for (std::size_t i = 0; i < 256; ++i) {
    SetBits(block.quants[i / 64 * 32 + i % 32], codes.code[i] & 15, i % 64 / 32 * 4);
    if constexpr (requires { block.high; }) {
      SetBits(block.high[i % 32], codes.code[i] >> 4, i / 32);
    }
  }
  return block;
}

BlockQ6_K PackQ6_K(const Codes& codes) {
  BlockQ6_K block = {.low = {}, .high = {}, .scales = {}, .d = codes.d};
  for (std::size_t i = 0; i < 256; ++i) {
    SetBits(block.low[i / 128 * 64 + i % 64], codes.code[i] & 15, i % 128 / 64 * 4);
    SetBits(block.high[i / 128 * 32 + i % 32], codes.code[i] >> 4, i % 128 / 32 * 2);
  }
  for (std::size_t group = 0; group < 16; ++group) {
    block.scales[group] = static_cast<std::int8_t>(codes.scale[group]);
  }
  return block;
}

BlockIQ4_XS PackIQ4_XS(const Codes& codes) {
  BlockIQ4_XS block = {.d = codes.d, .scales_high = 0, .scales_low = {}, .quants = {}};
  for (std::size_t i = 0; i < 256; ++i) {
    SetBits(block.quants[i / 32 * 16 + i % 16], codes.code[i], i % 32 / 16 * 4);
  }
  for (std::size_t j = 0; j < 8; ++j) {
    const int scale = codes.scale[j] + 32;
    SetBits(block.scales_low[j / 2], scale & 15, j % 2 * 4);
    SetBits(block.scales_high, scale >> 4, j * 2);
  }
  return block;
}

template <class Block>
void Store(const Block& block, std::byte* out) {
  std::memcpy(out, &block, sizeof(Block));
}

}  // namespace

void EncodeSuperBlock(QuantType type, std::span<const float, 256> x, std::byte* out) {
  switch (type) {
    case QuantType::kQ2_K:
      return Store(PackQ2_K(WithMin(x, 16, 3, 15)), out);
    case QuantType::kQ3_K:
      return Store(PackQ3_K(Symmetric(x, 16, CodeBook(-4, 8), -32)), out);
    case QuantType::kQ4_K:
      return Store(PackQ45K<BlockQ4_K>(WithMin(x, 32, 15, 63)), out);
    case QuantType::kQ5_K:
      return Store(PackQ45K<BlockQ5_K>(WithMin(x, 32, 31, 63)), out);
    case QuantType::kQ6_K:
      return Store(PackQ6_K(Symmetric(x, 16, CodeBook(-32, 64), -128)), out);
    case QuantType::kIQ4_XS:
      return Store(PackIQ4_XS(Symmetric(x, 32, CodeBook(kIq4Values), -32)), out);
    default:
      CheckFailed(__FILE__, __LINE__, "EncodeSuperBlock of a type without super-blocks");
  }
}

}  // namespace vivace
