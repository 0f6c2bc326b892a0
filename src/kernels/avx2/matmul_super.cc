// The types with super-blocks of 256: Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_XS.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx2/matmul_blocks.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

__m128i Load8(const std::byte* at) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)); }

// Integers of 32 bits as pairs of 16 (forms.h).
__m256i MakePairs(__m256i first, __m256i second) {
  return _mm256_or_si256(_mm256_slli_epi32(second, 16),
                         _mm256_and_si256(first, _mm256_set1_epi32(0xFFFF)));
}

constexpr std::int64_t kSixBitPairBytes = 192;  // of a super-block

// The six-bit pairs of a block, rows of one half.
__m256i SixBitPairs(const std::byte* scales, int block, int half) {
  const std::byte* at = scales + kHalfRows * half;
  const __m256i low = _mm256_cvtepu8_epi32(Load8(at + 16 * block));
  const __m256i two = _mm256_cvtepu8_epi32(Load8(at + 128 + 16 * (block / 2)));
  const __m256i high = _mm256_srli_epi32(two, 4 * (block % 2));
  const __m256i lows = _mm256_or_si256(low, _mm256_slli_epi32(low, 12));
  const __m256i highs = _mm256_or_si256(_mm256_slli_epi32(high, 4), _mm256_slli_epi32(high, 18));
  return _mm256_or_si256(_mm256_and_si256(lows, _mm256_set1_epi16(0x0F)),
                         _mm256_and_si256(highs, _mm256_set1_epi16(0x30)));
}

// Where a super-block's parts lie: kScaleBytes of integer scales, then lines.
template <class CodesType, std::int64_t kHeader, std::int64_t kScaleBytes>
class SuperBlock {
 public:
  using Codes = CodesType;
  static constexpr std::int64_t kBlocks = 8;
  static constexpr std::int64_t kHeaderBytes = kHeader;
  static constexpr std::int64_t kBodyBytes = kScaleBytes + 8 * kLine * Codes::kLines;

  SuperBlock(const std::byte* header, const std::byte* body) : header_(header), body_(body) {}

  const std::byte* Lines(int block) const {
    return body_ + kScaleBytes + kLine * Codes::kLines * block;
  }

 protected:
  __m256 D(int half) const { return LoadHalves(header_ + 16 * half); }
  __m256 MinusDMin(int half) const { return LoadNegatedHalves(header_ + 32 + 16 * half); }
  const std::byte* header() const { return header_; }
  const std::byte* scales() const { return body_; }

 private:
  const std::byte* header_;
  const std::byte* body_;
};

// Q4_K and Q5_K
template <class CodesType, int kSums>
struct ScaledMinimum : MinimumForm<kSums>, SuperBlock<CodesType, 64, kSixBitPairBytes> {
  using SuperBlock<CodesType, 64, kSixBitPairBytes>::SuperBlock;

  typename MinimumForm<kSums>::Scales BlockScales(int block, int half) const {
    const __m256i pairs = SixBitPairs(this->scales(), block, half);
    const __m256 scale = _mm256_cvtepi32_ps(_mm256_and_si256(pairs, _mm256_set1_epi32(0xFFFF)));
    const __m256 minimum = _mm256_cvtepi32_ps(_mm256_srli_epi32(pairs, 16));
    return {_mm256_mul_ps(this->D(half), scale), _mm256_mul_ps(this->MinusDMin(half), minimum)};
  }
};

struct Q2_K : HalfMinimaForm, SuperBlock<TwoBit, 64, 256> {
  using SuperBlock::SuperBlock;

  Scales BlockScales(int block, int half) const {
    const std::byte* at = scales() + 32 * block + 2 * kHalfRows * half;
    const __m256i bytes =
        _mm256_cvtepu8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(at)));
    const __m256i pairs = _mm256_and_si256(bytes, _mm256_set1_epi16(15));
    return Of(D(half), MinusDMin(half), pairs, _mm256_srli_epi16(bytes, 4));
  }
};

struct Q3_K : ScaledHalvesForm<2, 4>, SuperBlock<ThreeBit, 32, kSixBitPairBytes> {
  using SuperBlock::SuperBlock;

  Scales BlockScales(int block, int half) const {
    const __m256i pairs =
        _mm256_sub_epi16(SixBitPairs(scales(), block, half), _mm256_set1_epi16(32));
    return Of(D(half), pairs);
  }
};

struct Q6_K : ScaledHalvesForm<5, 2>, SuperBlock<SixBit, 32, 256> {
  using SuperBlock::SuperBlock;

  Scales BlockScales(int block, int half) const {
    const std::byte* at = scales() + 32 * block + kHalfRows * half;
    const __m256i pairs =
        MakePairs(_mm256_cvtepi8_epi32(Load8(at)), _mm256_cvtepi8_epi32(Load8(at + 16)));
    return Of(D(half), pairs);
  }
};

struct IQ4_XS : SignedForm, SuperBlock<Iq4Values, 128, 0> {
  using SuperBlock::SuperBlock;

  Scales BlockScales(int block, int half) const {
    const std::byte* at = header() + kHalfRows * half;
    const __m256i low = _mm256_cvtepu8_epi32(Load8(at + 32 + 16 * (block / 2)));
    const __m256i high = _mm256_cvtepu8_epi32(Load8(at + 96 + 16 * (block % 2)));
    const __m256i four = _mm256_srli_epi32(low, 4 * (block % 2));
    const __m256i two = _mm256_slli_epi32(_mm256_srli_epi32(high, 2 * (block / 2)), 4);
    const __m256i raised = _mm256_or_si256(_mm256_and_si256(four, _mm256_set1_epi32(0x0F)),
                                           _mm256_and_si256(two, _mm256_set1_epi32(0x30)));
    const __m256i scale = _mm256_sub_epi32(raised, _mm256_set1_epi32(32));
    return {_mm256_mul_ps(D(half), _mm256_cvtepi32_ps(scale))};
  }
};

}  // namespace

void MatmulQ2_K(const MatmulArgs& args) { MatmulBlocks<Q2_K>(args); }
void MatmulQ3_K(const MatmulArgs& args) { MatmulBlocks<Q3_K>(args); }
void MatmulQ4_K(const MatmulArgs& args) { MatmulBlocks<ScaledMinimum<FourBit, 8>>(args); }
void MatmulQ5_K(const MatmulArgs& args) { MatmulBlocks<ScaledMinimum<FiveBit, 4>>(args); }
void MatmulQ6_K(const MatmulArgs& args) { MatmulBlocks<Q6_K>(args); }
void MatmulIQ4_XS(const MatmulArgs& args) { MatmulBlocks<IQ4_XS>(args); }

}  // namespace vivace::VIVACE_ISA
