// Matrix products in plain C++: each block of 16 rows x 32 k is unpacked once to 16-bit
// integers [k][16 rows] and used for all activation rows, which accumulate in `out`.
#include "kernels/isa.h"
#include "kernels/packed_layout.h"
#include "kernels/portable/blocks.h"
#include "kernels/portable/half_lane.h"
#include "kernels/portable/lanes.h"

namespace vivace::VIVACE_ISA {
namespace {

void HalfDot(const Block& block, const std::int8_t* q, int half, std::int32_t* dot) {
  for (int lane = 0; lane < kLanes; ++lane) dot[lane] = 0;
  for (int k = 16 * half; k < 16 * (half + 1); ++k) {
    for (int lane = 0; lane < kLanes; ++lane) dot[lane] += block.q[k][lane] * q[k];
  }
}

template <class Type>
void AddBlock(const Block& block, const std::int8_t* q, float d_a, const std::int32_t* half_sum,
              float* out) {
  std::int32_t dot[2][kLanes];
  HalfDot(block, q, 0, dot[0]);
  HalfDot(block, q, 1, dot[1]);
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int32_t scaled =
        block.scale[0][lane] * dot[0][lane] + block.scale[1][lane] * dot[1][lane];
    if constexpr (Type::kHasMin) {
      const std::int32_t minimum =
          block.min[0][lane] * half_sum[0] + block.min[1][lane] * half_sum[1];
      const float of_block = __builtin_fmaf(static_cast<float>(minimum), block.m[lane],
                                            static_cast<float>(scaled) * block.d[lane]);
      out[lane] = __builtin_fmaf(of_block, d_a, out[lane]);
    } else {
      out[lane] = __builtin_fmaf(static_cast<float>(scaled), block.d[lane] * d_a, out[lane]);
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
                       a.half_sum + 2 * (row * blocks + b), out + row * args.out_stride);
      }
    }
  }
}

struct F32 {
  using Weight = float;
  static float Load(float weight) { return weight; }
};

struct F16 {
  using Weight = std::uint16_t;
  static float Load(std::uint16_t weight) { return FromHalf(weight); }
};

struct BF16 {
  using Weight = std::uint16_t;
  static float Load(std::uint16_t weight) {
    return FromBits(static_cast<std::uint32_t>(weight) << 16);
  }
};

template <class Type>
void MatmulFloats(const MatmulArgs& args) {
  for (std::int64_t group = args.group_begin; group < args.group_end; ++group) {
    const auto* base =
        reinterpret_cast<const typename Type::Weight*>(args.weights + group * args.group_bytes);
    for (std::int64_t row = 0; row < args.rows; ++row) {
      const float* x = args.activations.x + row * args.k;
      float acc[kLanes] = {};
      for (std::int64_t k = 0; k < args.k; ++k) {
        for (int lane = 0; lane < kLanes; ++lane) {
          acc[lane] = __builtin_fmaf(Type::Load(base[k * kLanes + lane]), x[k], acc[lane]);
        }
      }
      float* out = args.out + row * args.out_stride + (group - args.group_begin) * kGroupRows;
      for (int lane = 0; lane < kLanes; ++lane) out[lane] = acc[lane];
    }
  }
}

}  // namespace

void MatmulF32(const MatmulArgs& args) { MatmulFloats<F32>(args); }
void MatmulF16(const MatmulArgs& args) { MatmulFloats<F16>(args); }
void MatmulBF16(const MatmulArgs& args) { MatmulFloats<BF16>(args); }
void MatmulQ4_0(const MatmulArgs& args) { MatmulBlocks<Simple<0, 4, 8, false>>(args); }
void MatmulQ4_1(const MatmulArgs& args) { MatmulBlocks<Simple<0, 4, 0, true>>(args); }
void MatmulQ5_0(const MatmulArgs& args) { MatmulBlocks<Simple<1, 4, 16, false>>(args); }
void MatmulQ5_1(const MatmulArgs& args) { MatmulBlocks<Simple<1, 4, 0, true>>(args); }
void MatmulQ8_0(const MatmulArgs& args) { MatmulBlocks<Simple<0, 8, 128, false>>(args); }
void MatmulQ2_K(const MatmulArgs& args) { MatmulBlocks<Q2_K>(args); }
void MatmulQ3_K(const MatmulArgs& args) { MatmulBlocks<Q3_K>(args); }
void MatmulQ4_K(const MatmulArgs& args) { MatmulBlocks<ScaledMinimum<0>>(args); }
void MatmulQ5_K(const MatmulArgs& args) { MatmulBlocks<ScaledMinimum<1>>(args); }
void MatmulQ6_K(const MatmulArgs& args) { MatmulBlocks<Q6_K>(args); }
void MatmulIQ4_NL(const MatmulArgs& args) { MatmulBlocks<IQ4_NL>(args); }
void MatmulIQ4_XS(const MatmulArgs& args) { MatmulBlocks<IQ4_XS>(args); }
void MatmulMXFP4(const MatmulArgs& args) { MatmulBlocks<MXFP4>(args); }

}  // namespace vivace::VIVACE_ISA
