// The types with super-blocks of 256: Q4_K, Q6_K.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx2/matmul_blocks.h"
#include "kernels/isa.h"

namespace vivace::avx2 {
namespace {

__m128i Load8(const std::byte* at) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)); }

// 8 integers as 32-bit lanes that hold each twice in 16 bits.
__m256i Twice(__m256i integers) {
  return _mm256_or_si256(_mm256_slli_epi32(integers, 16),
                         _mm256_and_si256(integers, _mm256_set1_epi32(0xFFFF)));
}

class Q4_K : public ScaledMinimumForm {
 public:
  using Codes = FourBit;
  static constexpr std::int64_t kBlocks = 8;
  static constexpr std::int64_t kHeaderBytes = 64;
  static constexpr std::int64_t kScaleBytes = 192;
  static constexpr std::int64_t kBodyBytes = kScaleBytes + 8 * kLine * Codes::kLines;

  Q4_K(const std::byte* header, const std::byte* body) : header_(header), body_(body) {}

  const std::byte* Lines(int block) const {
    return body_ + kScaleBytes + kLine * Codes::kLines * block;
  }
  Scales BlockScales(int block, int half) const {
    const std::byte* at = body_ + kHalfRows * half;
    const __m256i low = _mm256_cvtepu8_epi32(Load8(at + 16 * block));
    const __m256i pair = _mm256_cvtepu8_epi32(Load8(at + 128 + 16 * (block / 2)));
    const __m256i high = _mm256_srli_epi32(pair, 4 * (block % 2));
    const auto merge = [](__m256i four, __m256i two) {
      return _mm256_or_si256(_mm256_and_si256(four, _mm256_set1_epi32(0x0F)),
                             _mm256_and_si256(two, _mm256_set1_epi32(0x30)));
    };
    const __m256i scale = merge(low, _mm256_slli_epi32(high, 4));
    const __m256i minimum = merge(_mm256_srli_epi32(low, 4), _mm256_slli_epi32(high, 2));
    return {.d = LoadHalves(header_ + 16 * half),
            .d_min = LoadHalves(header_ + 32 + 16 * half),
            .scale = Twice(scale),
            .minimum = _mm256_cvtepi32_ps(minimum)};
  }

 private:
  const std::byte* header_;
  const std::byte* body_;
};

class Q6_K : public ScaledHalvesForm {
 public:
  using Codes = SixBit;
  static constexpr std::int64_t kBlocks = 8;
  static constexpr std::int64_t kHeaderBytes = 32;
  static constexpr std::int64_t kScaleBytes = 256;
  static constexpr std::int64_t kBodyBytes = kScaleBytes + 8 * kLine * Codes::kLines;

  Q6_K(const std::byte* header, const std::byte* body) : header_(header), body_(body) {}

  const std::byte* Lines(int block) const {
    return body_ + kScaleBytes + kLine * Codes::kLines * block;
  }
  Scales BlockScales(int block, int half) const {
    const std::byte* at = body_ + 32 * block + kHalfRows * half;
    const __m256i first = _mm256_cvtepi8_epi32(Load8(at));
    const __m256i second = _mm256_cvtepi8_epi32(Load8(at + 16));
    const __m256i both = _mm256_or_si256(_mm256_slli_epi32(second, 16),
                                         _mm256_and_si256(first, _mm256_set1_epi32(0xFFFF)));
    return {.d = LoadHalves(header_ + 16 * half),
            .scale = {Twice(first), Twice(second)},
            .offsets = _mm256_slli_epi16(both, 5)};
  }

 private:
  const std::byte* header_;
  const std::byte* body_;
};

}  // namespace

void MatmulQ4_K(const MatmulArgs& args) { MatmulBlocks<Q4_K>(args); }
void MatmulQ6_K(const MatmulArgs& args) { MatmulBlocks<Q6_K>(args); }

}  // namespace vivace::avx2
