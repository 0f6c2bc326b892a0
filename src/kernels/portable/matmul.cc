// Matrix products in plain C++: each block of 16 rows x 32 k is unpacked once to 16-bit
// integers [k][16 rows] and used for all activation rows, which accumulate in `out`.
#include "kernels/isa.h"
#include "kernels/packed_layout.h"
#include "kernels/portable/half_lane.h"
#include "kernels/portable/lanes.h"

namespace vivace::VIVACE_ISA {
namespace {

using Byte = std::uint8_t;

// One block, unpacked. Integer scales are 1 and minima 0 where the type has none.
struct Block {
  std::int16_t q[kBlock][kLanes];
  float d[kLanes];
  float m[kLanes];                // factor of the sums' term; unused without a minimum
  std::int32_t scale[2][kLanes];  // of the halves of 16 k
  std::int32_t min[kLanes];
};

void LoadHalves(const Byte* from, float* out) {
  for (int lane = 0; lane < kLanes; ++lane) {
    std::uint16_t half = 0;
    __builtin_memcpy(&half, from + 2 * lane, sizeof half);
    out[lane] = FromHalf(half);
  }
}

// The k value that byte i of line quad `quad` holds, for all rows.
void PutQuad(const Byte* codes, int quad, int offset, Block& block) {
  for (int i = 0; i < 4; ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      block.q[4 * quad + i][lane] = static_cast<std::int16_t>(codes[4 * lane + i] - offset);
    }
  }
}

// Nibble lines with, above them, kHighBits bits from `high`: line quad / kPerLine holds
// those of quad at bit kHighBits * (quad % kPerLine).
template <int kHighBits>
void UnpackNibbles(const Byte* low, const Byte* high, int offset, Block& block) {
  constexpr int kPerLine = kHighBits == 2 ? 4 : 8;
  for (int quad = 0; quad < 8; ++quad) {
    Byte codes[kLine];
    for (int i = 0; i < kLine; ++i) {
      codes[i] = low[quad % 4 * kLine + i] >> (4 * (quad / 4)) & 15;
      if constexpr (kHighBits > 0) {
        const int bits = high[quad / kPerLine * kLine + i] >> (kHighBits * (quad % kPerLine));
        codes[i] = static_cast<Byte>(codes[i] | (bits & ((1 << kHighBits) - 1)) << 4);
      }
    }
    PutQuad(codes, quad, offset, block);
  }
}

void NoIntegerScales(Block& block) {
  for (int lane = 0; lane < kLanes; ++lane) {
    block.scale[0][lane] = block.scale[1][lane] = 1;
    block.min[lane] = 0;
  }
}

// Types with one header entry per block; a unit is two blocks. kMin: d and an added minimum.
template <int kLowBits, int kFifth, int kOffset, bool kMin>
struct Simple {
  static constexpr bool kHasMin = kMin;
  static constexpr std::int64_t kUnit = 2 * kBlock;
  static constexpr std::int64_t kEntry = kMin ? 64 : 32;
  static constexpr std::int64_t kHeader = 2 * kEntry;
  static constexpr std::int64_t kLines = 64 * kLowBits + 64 * kFifth;
  static constexpr std::int64_t kBody = 2 * kLines;

  static void Unpack(const Byte* header, const Byte* body, int in_unit, Block& block) {
    header += in_unit * kEntry;
    body += in_unit * kLines;
    LoadHalves(header, block.d);
    NoIntegerScales(block);
    if constexpr (kLowBits == 8) {
      for (int quad = 0; quad < 8; ++quad) PutQuad(body + quad * kLine, quad, kOffset, block);
    } else {
      UnpackNibbles<kFifth>(body + 64 * kFifth, body, kOffset, block);
    }
    if constexpr (kMin) {
      LoadHalves(header + 32, block.m);
      for (std::int32_t& min : block.min) min = 1;
    }
  }
};

struct Q4_K {
  static constexpr bool kHasMin = true;
  static constexpr std::int64_t kUnit = kSuperBlock;
  static constexpr std::int64_t kHeader = 64;
  static constexpr std::int64_t kBody = 192 + 8 * 256;

  static void Unpack(const Byte* header, const Byte* body, int in_unit, Block& block) {
    LoadHalves(header, block.d);
    LoadHalves(header + 32, block.m);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int low = body[kLanes * in_unit + lane];
      const int high = body[128 + kLanes * (in_unit / 2) + lane] >> (4 * (in_unit % 2));
      block.m[lane] = -block.m[lane];
      block.scale[0][lane] = block.scale[1][lane] = (low & 15) | (high & 3) << 4;
      block.min[lane] = low >> 4 | (high >> 2 & 3) << 4;
    }
    UnpackNibbles<0>(body + 192 + 256 * in_unit, nullptr, 0, block);
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
    const Byte* lines = body + 256 + 384 * in_unit;
    UnpackNibbles<2>(lines + 128, lines, 32, block);
  }
};

void HalfDot(const Block& block, const std::int8_t* q, int half, std::int32_t* dot) {
  for (int lane = 0; lane < kLanes; ++lane) dot[lane] = 0;
  for (int k = 16 * half; k < 16 * (half + 1); ++k) {
    for (int lane = 0; lane < kLanes; ++lane) dot[lane] += block.q[k][lane] * q[k];
  }
}

template <class Type>
void AddBlock(const Block& block, const std::int8_t* q, float d_a, std::int32_t sum, float* out) {
  std::int32_t dot[2][kLanes];
  HalfDot(block, q, 0, dot[0]);
  HalfDot(block, q, 1, dot[1]);
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int32_t scaled =
        block.scale[0][lane] * dot[0][lane] + block.scale[1][lane] * dot[1][lane];
    out[lane] = __builtin_fmaf(static_cast<float>(scaled), block.d[lane] * d_a, out[lane]);
    if constexpr (Type::kHasMin) {
      const auto minimum = static_cast<float>(block.min[lane] * sum);
      out[lane] = __builtin_fmaf(minimum, block.m[lane] * d_a, out[lane]);
    }
  }
}

void Clear(const MatmulArgs& args, float* out) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (int lane = 0; lane < kLanes; ++lane) out[row * args.out_stride + lane] = 0;
  }
}

template <class Type>
void MatmulBlocks(const MatmulArgs& args) {
  const std::int64_t blocks = args.k / kBlock;
  const std::int64_t per_unit = Type::kUnit / kBlock;
  const Activations& a = args.activations;
  for (std::int64_t group = args.group_begin; group < args.group_end; ++group) {
    const auto* base = reinterpret_cast<const Byte*>(args.weights) + group * args.group_bytes;
    float* out = args.out + (group - args.group_begin) * kGroupRows;
    Clear(args, out);
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t unit = b / per_unit;
      const auto in_unit = static_cast<int>(b % per_unit);
      constexpr std::int64_t kRun = Type::kHeader < kLine ? kLine / Type::kHeader : 1;
      const Byte* run = base + unit / kRun * kRun * (Type::kHeader + Type::kBody);
      Block block;
      Type::Unpack(run + unit % kRun * Type::kHeader,
                   run + kRun * Type::kHeader + unit % kRun * Type::kBody, in_unit, block);
      for (std::int64_t row = 0; row < args.rows; ++row) {
        AddBlock<Type>(block, a.q + row * args.k + b * kBlock, a.d[row * blocks + b],
                       a.sum[row * blocks + b], out + row * args.out_stride);
      }
    }
  }
}

float LoadWeight(const float* weight) { return *weight; }
float LoadWeight(const std::uint16_t* weight) { return FromHalf(*weight); }

template <class Weight>
void MatmulFloats(const MatmulArgs& args) {
  for (std::int64_t group = args.group_begin; group < args.group_end; ++group) {
    const auto* base = reinterpret_cast<const Weight*>(args.weights + group * args.group_bytes);
    for (std::int64_t row = 0; row < args.rows; ++row) {
      const float* x = args.activations.x + row * args.k;
      float acc[kLanes] = {};
      for (std::int64_t k = 0; k < args.k; ++k) {
        for (int lane = 0; lane < kLanes; ++lane) {
          acc[lane] = __builtin_fmaf(LoadWeight(base + k * kLanes + lane), x[k], acc[lane]);
        }
      }
      float* out = args.out + row * args.out_stride + (group - args.group_begin) * kGroupRows;
      for (int lane = 0; lane < kLanes; ++lane) out[lane] = acc[lane];
    }
  }
}

}  // namespace

void MatmulF32(const MatmulArgs& args) { MatmulFloats<float>(args); }
void MatmulF16(const MatmulArgs& args) { MatmulFloats<std::uint16_t>(args); }
void MatmulQ4_0(const MatmulArgs& args) { MatmulBlocks<Simple<4, 0, 8, false>>(args); }
void MatmulQ4_1(const MatmulArgs& args) { MatmulBlocks<Simple<4, 0, 0, true>>(args); }
void MatmulQ4_K(const MatmulArgs& args) { MatmulBlocks<Q4_K>(args); }
void MatmulQ5_0(const MatmulArgs& args) { MatmulBlocks<Simple<4, 1, 16, false>>(args); }
void MatmulQ6_K(const MatmulArgs& args) { MatmulBlocks<Q6_K>(args); }
void MatmulQ8_0(const MatmulArgs& args) { MatmulBlocks<Simple<8, 0, 128, false>>(args); }

}  // namespace vivace::VIVACE_ISA
