// The int8 dot step of AVX2 at its fastest, on registers only: four products' pairs summed
// in 16 bits, as the kernels of up to 5-bit weights do, then widened.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

constexpr int kChains = 4;  // of each half of the 64 products; the sum of one takes four

// The same value, which the compiler may not know: it must not join equal products.
__m256i Unknown(__m256i value) {
  asm("" : "+x"(value));
  return value;
}

__m256i FourSteps(__m256i& a, __m256i b) {
  __m256i sum = _mm256_maddubs_epi16(a, b);
  for (int i = 1; i < 4; ++i) {
    a = Unknown(a);
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(a, b));
  }
  return _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
}

}  // namespace

std::int64_t DotPeak(const std::uint8_t* a, const std::int8_t* b, std::int64_t rounds,
                     std::int32_t* out) {
  __m256i sums[2][kChains];
  std::int32_t four = 0;
  __builtin_memcpy(&four, a, sizeof four);
  __m256i left[2] = {_mm256_set1_epi32(four), _mm256_set1_epi32(four)};
  __m256i right[2];
  for (int half = 0; half < 2; ++half) {
    right[half] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 32 * half));
    for (__m256i& sum : sums[half]) sum = _mm256_setzero_si256();
  }
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (int chain = 0; chain < kChains; ++chain) {
      for (int half = 0; half < 2; ++half) {
        sums[half][chain] = _mm256_add_epi32(sums[half][chain], FourSteps(left[half], right[half]));
      }
    }
  }
  for (int half = 0; half < 2; ++half) {
    const __m256i low = _mm256_add_epi32(sums[half][0], sums[half][1]);
    const __m256i high = _mm256_add_epi32(sums[half][2], sums[half][3]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * half), _mm256_add_epi32(low, high));
  }
  return 4 * kChains * rounds * 64;
}

}  // namespace vivace::VIVACE_ISA
