// The types whose blocks of 32 have nothing but their scales: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0,
// IQ4_NL, MXFP4.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx2/matmul_blocks.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

// k is padded to 64, so blocks come in pairs.
template <class CodesType, int kHeaderPerBlock>
class BlockPair {
 public:
  using Codes = CodesType;
  static constexpr std::int64_t kBlocks = 2;
  static constexpr std::int64_t kHeaderBytes = 2 * kHeaderPerBlock;
  static constexpr std::int64_t kBodyBytes = 2 * kLine * Codes::kLines;

  BlockPair(const std::byte* header, const std::byte* body) : header_(header), body_(body) {}

  const std::byte* Lines(int block) const { return body_ + kLine * Codes::kLines * block; }

 protected:
  const std::byte* header(int block) const { return header_ + kHeaderPerBlock * block; }
  __m256 Scale(int block, int index, int half) const {
    return LoadHalves(header(block) + 32 * index + 16 * half);
  }

 private:
  const std::byte* header_;
  const std::byte* body_;
};

struct Q4_0 : OffsetForm<3, 8>, BlockPair<FourBit, 32> {
  using BlockPair::BlockPair;
  Scales BlockScales(int block, int half) const { return {Scale(block, 0, half)}; }
};

struct Q4_1 : MinimumForm<8>, BlockPair<FourBit, 64> {
  using BlockPair::BlockPair;
  Scales BlockScales(int block, int half) const {
    return {Scale(block, 0, half), Scale(block, 1, half)};
  }
};

struct Q5_0 : OffsetForm<4, 4>, BlockPair<FiveBit, 32> {
  using BlockPair::BlockPair;
  Scales BlockScales(int block, int half) const { return {Scale(block, 0, half)}; }
};

struct Q5_1 : MinimumForm<4>, BlockPair<FiveBit, 64> {
  using BlockPair::BlockPair;
  Scales BlockScales(int block, int half) const {
    return {Scale(block, 0, half), Scale(block, 1, half)};
  }
};

struct Q8_0 : SignedForm, BlockPair<EightBit, 32> {
  using BlockPair::BlockPair;
  Scales BlockScales(int block, int half) const { return {Scale(block, 0, half)}; }
};

struct IQ4_NL : SignedForm, BlockPair<Iq4Values, 32> {
  using BlockPair::BlockPair;
  Scales BlockScales(int block, int half) const { return {Scale(block, 0, half)}; }
};

struct MXFP4 : OffsetForm<4, 4>, BlockPair<Mxfp4Values, 16> {
  static_assert(kMxfp4Offset == 1 << 4);
  using BlockPair::BlockPair;

  // d = 2^(exponent - 128), whose two smallest values are subnormal.
  Scales BlockScales(int block, int half) const {
    const std::byte* at = header(block) + kHalfRows * half;
    const __m256i exponent =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)));
    const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(exponent, _mm256_set1_epi32(1)), 23);
    const __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(0x200000), exponent);
    const __m256i small = _mm256_cmpgt_epi32(_mm256_set1_epi32(2), exponent);
    return {_mm256_castsi256_ps(_mm256_blendv_epi8(normal, subnormal, small))};
  }
};

}  // namespace

void MatmulIQ4_NL(const MatmulArgs& args) { MatmulBlocks<IQ4_NL>(args); }
void MatmulMXFP4(const MatmulArgs& args) { MatmulBlocks<MXFP4>(args); }
void MatmulQ4_0(const MatmulArgs& args) { MatmulBlocks<Q4_0>(args); }
void MatmulQ4_1(const MatmulArgs& args) { MatmulBlocks<Q4_1>(args); }
void MatmulQ5_0(const MatmulArgs& args) { MatmulBlocks<Q5_0>(args); }
void MatmulQ5_1(const MatmulArgs& args) { MatmulBlocks<Q5_1>(args); }
void MatmulQ8_0(const MatmulArgs& args) { MatmulBlocks<Q8_0>(args); }

}  // namespace vivace::VIVACE_ISA
