// Activations to int8; the definition is QuantizeRowReference of quant/activation.h.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

constexpr int kParts = 4;  // registers of 8 floats in a block

__m256 Magnitude(__m256 x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x); }

// max_ps keeps its second operand when the first is a NaN, so NaNs are passed over; max
// is exact in any order.
float LargestMagnitude(const __m256 (&x)[kParts]) {
  __m256 most = _mm256_setzero_ps();
  for (const __m256 part : x) most = _mm256_max_ps(Magnitude(part), most);
  __m128 four = _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1));
  four = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

std::int32_t SumLanes(__m128i v) {
  v = _mm_add_epi32(v, _mm_unpackhi_epi64(v, v));
  return _mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32(v, 1)));
}

}  // namespace

void Quantize(const float* x, std::int64_t k, std::int8_t* q, float* d, std::int32_t* sum,
              std::int32_t* half_sum) {
  for (std::int64_t block = 0; block < k / kBlock; ++block) {
    __m256 values[kParts];
    for (int i = 0; i < kParts; ++i) values[i] = _mm256_loadu_ps(x + kBlock * block + 8 * i);
    const float largest = LargestMagnitude(values);
    const bool zero = !(largest >= 1e-30F);
    d[block] = zero ? 0.0F : largest / 127.0F;
    const __m256 inverse = _mm256_set1_ps(zero ? 0.0F : 127.0F / largest);
    __m256i codes[kParts];
    for (int i = 0; i < kParts; ++i) {
      const __m256 scaled = _mm256_mul_ps(values[i], inverse);
      const __m256 number = _mm256_and_ps(scaled, _mm256_cmp_ps(scaled, scaled, _CMP_ORD_Q));
      codes[i] = _mm256_cvtps_epi32(number);
    }
    // Packing works within 128-bit lanes: dword i of `mixed` is dword order[i] of the codes.
    const __m256i low = _mm256_packs_epi32(codes[0], codes[1]);
    const __m256i high = _mm256_packs_epi32(codes[2], codes[3]);
    const __m256i mixed = _mm256_packs_epi16(low, high);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + kBlock * block),
                        _mm256_permutevar8x32_epi32(mixed, order));
    const __m256i ones = _mm256_set1_epi16(1);
    const __m256i sums[2] = {_mm256_madd_epi16(low, ones), _mm256_madd_epi16(high, ones)};
    for (int half = 0; half < 2; ++half) {
      half_sum[2 * block + half] = SumLanes(_mm_add_epi32(_mm256_castsi256_si128(sums[half]),
                                                          _mm256_extracti128_si256(sums[half], 1)));
    }
    sum[block] = half_sum[2 * block] + half_sum[2 * block + 1];
  }
}

}  // namespace vivace::VIVACE_ISA
