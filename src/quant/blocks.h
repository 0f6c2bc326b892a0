// The blocks of GGUF's quantized formats, as they lie in the file.
//
// `d`, `m`, `dmin` are float16. K-quants have super-blocks of 256 values. How the fields
// make values is in decode.cc.
#pragma once

#include <cstdint>

namespace vivace {

struct BlockQ4_0 {
  std::uint16_t d;
  std::uint8_t quants[16];  // low nibbles: values 0-15, high: 16-31
};
struct BlockQ4_1 {
  std::uint16_t d, m;
  std::uint8_t quants[16];
};
struct BlockQ5_0 {
  std::uint16_t d;
  std::uint8_t high[4];  // bit i: fifth bit of value i
  std::uint8_t quants[16];
};
struct BlockQ5_1 {
  std::uint16_t d, m;
  std::uint8_t high[4];
  std::uint8_t quants[16];
};
struct BlockQ8_0 {
  std::uint16_t d;
  std::int8_t quants[32];
};
struct BlockQ2_K {
  std::uint8_t scales[16];  // low nibble scale, high nibble min, of 16 values each
  std::uint8_t quants[64];
  std::uint16_t d, dmin;
};
struct BlockQ3_K {
  std::uint8_t high[32];
  std::uint8_t quants[64];
  std::uint8_t scales[12];  // 16 of 6 bits
  std::uint16_t d;
};
struct BlockQ4_K {
  std::uint16_t d, dmin;
  std::uint8_t scales[12];  // 8 scales and 8 mins of 6 bits
  std::uint8_t quants[128];
};
struct BlockQ5_K {
  std::uint16_t d, dmin;
  std::uint8_t scales[12];
  std::uint8_t high[32];
  std::uint8_t quants[128];
};
struct BlockQ6_K {
  std::uint8_t low[128];
  std::uint8_t high[64];
  std::int8_t scales[16];
  std::uint16_t d;
};
struct BlockIQ4_NL {
  std::uint16_t d;
  std::uint8_t quants[16];
};
struct BlockIQ4_XS {
  std::uint16_t d;
  std::uint16_t scales_high;
  std::uint8_t scales_low[4];
  std::uint8_t quants[128];
};
struct BlockMXFP4 {
  std::uint8_t exponent;  // E8M0
  std::uint8_t quants[16];
};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20);
static_assert(sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24 && sizeof(BlockQ8_0) == 34);
static_assert(sizeof(BlockQ2_K) == 84 && sizeof(BlockQ3_K) == 110 && sizeof(BlockQ4_K) == 144);
static_assert(sizeof(BlockQ5_K) == 176 && sizeof(BlockQ6_K) == 210);
static_assert(sizeof(BlockIQ4_NL) == 18 && sizeof(BlockIQ4_XS) == 136 && sizeof(BlockMXFP4) == 17);

// The four-bit non-linear code books.
inline constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};
inline constexpr std::int8_t kMxfp4Doubled[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                                  0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace vivace
