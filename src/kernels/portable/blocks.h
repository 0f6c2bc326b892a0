// How a block of 16 rows x 32 k of each type becomes integers and scales, in plain C++.
//
// A Type says how the packed bytes of a unit of blocks are read (kernels/packed_layout.h):
//   kUnit, kHeader, kBody              values and bytes of a unit
//   kHasMin                            whether there is a term of the activations' sums
//   Unpack(header, body, in_unit, block)   block in_unit of a unit
#pragma once

#include "kernels/code_books.h"
#include "kernels/packed_layout.h"
#include "kernels/portable/half_lane.h"
#include "kernels/portable/lanes.h"

namespace vivace::VIVACE_ISA {
namespace {

using Byte = std::uint8_t;

// One block, unpacked. Integer scales and minima are 1 where halves have none.
struct Block {
  std::int16_t q[kBlock][kLanes];
  float d[kLanes];
  float m[kLanes];                // factor of the sums' term; unused without a minimum
  std::int32_t scale[2][kLanes];  // of the halves of 16 k
  std::int32_t min[2][kLanes];
};

void LoadHalves(const Byte* from, float* out) {
  for (int lane = 0; lane < kLanes; ++lane) {
    std::uint16_t half = 0;
    __builtin_memcpy(&half, from + 2 * lane, sizeof half);
    out[lane] = FromHalf(half);
  }
}

// Where the codes of a quad are when stored kBits wide.
template <int kBits>
struct Part {
  static constexpr int kMask = (1 << kBits) - 1;
  static constexpr int kPerLine = 8 / kBits;

  Part(const Byte* lines, int quad)
      : line(lines + kLine * (kBits == 4 ? quad % 4 : quad / kPerLine)),
        shift(kBits * (kBits == 4 ? quad / 4 : quad % kPerLine)) {}

  int At(int i) const { return line[i] >> shift & kMask; }

  const Byte* line;
  int shift;
};

// The k value that byte i of line quad `quad` holds, for all rows.
void PutQuad(const Byte* codes, int quad, int offset, Block& block) {
  for (int i = 0; i < 4; ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      block.q[4 * quad + i][lane] = static_cast<std::int16_t>(codes[4 * lane + i] - offset);
    }
  }
}

// The codes of a block, less `offset`: kHighBits of each before kLowBits of each.
template <int kHighBits, int kLowBits>
void UnpackCodes(const Byte* lines, int offset, Block& block) {
  for (int quad = 0; quad < 8; ++quad) {
    const Part<kLowBits> low(lines + kHighBits * kLine, quad);
    Byte codes[kLine];
    for (int i = 0; i < kLine; ++i) codes[i] = static_cast<Byte>(low.At(i));
    if constexpr (kHighBits > 0) {
      const Part<kHighBits> high(lines, quad);
      for (int i = 0; i < kLine; ++i) {
        codes[i] = static_cast<Byte>(codes[i] | high.At(i) << kLowBits);
      }
    }
    PutQuad(codes, quad, offset, block);
  }
}

void UnpackBook(const Byte* lines, const CodeBook& book, int offset, Block& block) {
  for (int quad = 0; quad < 8; ++quad) {
    const Part<4> places(lines, quad);
    Byte codes[kLine];
    for (int i = 0; i < kLine; ++i) codes[i] = book.value[places.At(i)];
    PutQuad(codes, quad, offset, block);
  }
}

void NoIntegerScales(Block& block) {
  for (int lane = 0; lane < kLanes; ++lane) {
    block.scale[0][lane] = block.scale[1][lane] = 1;
    block.min[0][lane] = block.min[1][lane] = 1;
  }
}

// Types with one header entry per block; a unit is two blocks.
template <int kHighBits, int kLowBits, std::int64_t kEntryBytes>
struct TwoBlocks {
  static constexpr bool kHasMin = false;
  static constexpr std::int64_t kUnit = 2 * kBlock;
  static constexpr std::int64_t kEntry = kEntryBytes;
  static constexpr std::int64_t kHeader = 2 * kEntry;
  static constexpr std::int64_t kLines = kLine * (kHighBits + kLowBits);
  static constexpr std::int64_t kBody = 2 * kLines;
};

// kMin: d and an added minimum.
template <int kHighBits, int kLowBits, int kOffset, bool kMin>
struct Simple : TwoBlocks<kHighBits, kLowBits, kMin ? 64 : 32> {
  static constexpr bool kHasMin = kMin;

  static void Unpack(const Byte* header, const Byte* body, int in_unit, Block& block) {
    header += in_unit * Simple::kEntry;
    LoadHalves(header, block.d);
    NoIntegerScales(block);
    UnpackCodes<kHighBits, kLowBits>(body + in_unit * Simple::kLines, kOffset, block);
    if constexpr (kMin) LoadHalves(header + 32, block.m);
  }
};

struct IQ4_NL : TwoBlocks<0, 4, 32> {
  static void Unpack(const Byte* header, const Byte* body, int in_unit, Block& block) {
    LoadHalves(header + in_unit * kEntry, block.d);
    NoIntegerScales(block);
    UnpackBook(body + in_unit * kLines, kIq4Book, kIq4Offset, block);
  }
};

struct MXFP4 : TwoBlocks<0, 4, 16> {
  static void Unpack(const Byte* header, const Byte* body, int in_unit, Block& block) {
    for (int lane = 0; lane < kLanes; ++lane) {
      // 2^(exponent - 128); the two smallest are subnormal.
      const std::uint32_t exponent = header[in_unit * kEntry + lane];
      block.d[lane] = FromBits(exponent < 2 ? 0x200000U << exponent : (exponent - 1) << 23);
    }
    NoIntegerScales(block);
    UnpackBook(body + in_unit * kLines, kMxfp4Book, kMxfp4Offset, block);
  }
};

// A six-bit pair: `first` and `second` of block `in_unit`.
void SixBitPairs(const Byte* body, int in_unit, std::int32_t* first, std::int32_t* second) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int low = body[kLanes * in_unit + lane];
    const int high = body[128 + kLanes * (in_unit / 2) + lane] >> (4 * (in_unit % 2));
    first[lane] = (low & 15) | (high & 3) << 4;
    second[lane] = low >> 4 | (high >> 2 & 3) << 4;
  }
}

void LoadNegatedHalves(const Byte* from, float* out) {
  LoadHalves(from, out);
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = -out[lane];
}

// Q4_K and Q5_K
template <int kFifth>
struct ScaledMinimum {
  static constexpr bool kHasMin = true;
  static constexpr std::int64_t kUnit = kSuperBlock;
  static constexpr std::int64_t kHeader = 64;
  static constexpr std::int64_t kLineBytes = kLine * (4 + kFifth);
  static constexpr std::int64_t kBody = 192 + 8 * kLineBytes;

  static void Unpack(const Byte* header, const Byte* body, int in_unit, Block& block) {
    LoadHalves(header, block.d);
    LoadNegatedHalves(header + 32, block.m);
    NoIntegerScales(block);
    std::int32_t scale[kLanes];
    std::int32_t minimum[kLanes];
    SixBitPairs(body, in_unit, scale, minimum);
    for (int lane = 0; lane < kLanes; ++lane) {
      block.d[lane] *= static_cast<float>(scale[lane]);
      block.m[lane] *= static_cast<float>(minimum[lane]);
    }
    UnpackCodes<kFifth, 4>(body + 192 + kLineBytes * in_unit, 0, block);
  }
};

struct Q2_K {
  static constexpr bool kHasMin = true;
  static constexpr std::int64_t kUnit = kSuperBlock;
  static constexpr std::int64_t kHeader = 64;
  static constexpr std::int64_t kBody = 256 + 8 * 128;

  static void Unpack(const Byte* header, const Byte* body, int in_unit, Block& block) {
    LoadHalves(header, block.d);
    LoadNegatedHalves(header + 32, block.m);
    for (int half = 0; half < 2; ++half) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const Byte both = body[2 * (kLanes * in_unit + lane) + half];
        block.scale[half][lane] = both & 15;
        block.min[half][lane] = both >> 4;
      }
    }
    UnpackCodes<0, 2>(body + 256 + 128 * in_unit, 0, block);
  }
};

struct Q3_K {
  static constexpr bool kHasMin = false;
  static constexpr std::int64_t kUnit = kSuperBlock;
  static constexpr std::int64_t kHeader = 32;
  static constexpr std::int64_t kBody = 192 + 8 * 192;

  static void Unpack(const Byte* header, const Byte* body, int in_unit, Block& block) {
    LoadHalves(header, block.d);
    NoIntegerScales(block);
    SixBitPairs(body, in_unit, block.scale[0], block.scale[1]);
    for (auto& half : block.scale) {
      for (std::int32_t& scale : half) scale -= 32;
    }
    UnpackCodes<1, 2>(body + 192 + 192 * in_unit, 4, block);
  }
};

struct Q6_K {
  static constexpr bool kHasMin = false;
  static constexpr std::int64_t kUnit = kSuperBlock;
  static constexpr std::int64_t kHeader = 32;
  static constexpr std::int64_t kBody = 256 + 8 * 384;

  static void Unpack(const Byte* header, const Byte* body, int in_unit, Block& block) {
    LoadHalves(header, block.d);
    NoIntegerScales(block);
    for (int half = 0; half < 2; ++half) {
      for (int lane = 0; lane < kLanes; ++lane) {
        block.scale[half][lane] =
            static_cast<std::int8_t>(body[kLanes * (2 * in_unit + half) + lane]);
      }
    }
    UnpackCodes<2, 4>(body + 256 + 384 * in_unit, 32, block);
  }
};

struct IQ4_XS {
  static constexpr bool kHasMin = false;
  static constexpr std::int64_t kUnit = kSuperBlock;
  static constexpr std::int64_t kHeader = 128;
  static constexpr std::int64_t kBody = 8 * 256;

  static void Unpack(const Byte* header, const Byte* body, int in_unit, Block& block) {
    LoadHalves(header, block.d);
    NoIntegerScales(block);
    const Byte* low = header + 32 + kLanes * (in_unit / 2);
    const Byte* high = header + 96 + kLanes * (in_unit % 2);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int four = low[lane] >> (4 * (in_unit % 2)) & 15;
      const int two = high[lane] >> (2 * (in_unit / 2)) & 3;
      block.d[lane] *= static_cast<float>((four | two << 4) - 32);
    }
    UnpackBook(body + 256 * in_unit, kIq4Book, kIq4Offset, block);
  }
};

}  // namespace
}  // namespace vivace::VIVACE_ISA
