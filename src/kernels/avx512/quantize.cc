// Activations to int8; the definition is QuantizeRowReference of quant/activation.h.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

constexpr std::int64_t kStepBlocks = 16;  // scales of one register

// The largest magnitude of 32 floats; max_ps keeps its second operand when the first is
// a NaN, so NaNs are passed over.
float LargestMagnitude(const float* x) {
  const __m512 zero = _mm512_setzero_ps();
  const __m512 low = _mm512_max_ps(_mm512_abs_ps(_mm512_loadu_ps(x)), zero);
  const __m512 both = _mm512_max_ps(_mm512_abs_ps(_mm512_loadu_ps(x + 16)), low);
  return _mm512_reduce_max_ps(both);
}

// 16 codes as int32.
__m512i Codes(const float* x, __m512 inverse) {
  const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(x), inverse);
  return _mm512_maskz_cvtps_epi32(_mm512_cmp_ps_mask(scaled, scaled, _CMP_ORD_Q), scaled);
}

// Two blocks: 64 codes and the sums of their four halves and two blocks.
void QuantizePair(const float* x, const float* inverses, std::int8_t* q, std::int32_t* sum,
                  std::int32_t* half_sum) {
  const __m512 first = _mm512_set1_ps(inverses[0]);
  const __m512 second = _mm512_set1_ps(inverses[1]);
  const __m512i low = _mm512_packs_epi32(Codes(x, first), Codes(x + 16, first));
  const __m512i high = _mm512_packs_epi32(Codes(x + 32, second), Codes(x + 48, second));
  // Packing interleaves the four inputs by 128-bit lanes: dword 4 * lane + i is input i.
  const __m512i mixed = _mm512_packs_epi16(low, high);
  const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  _mm512_storeu_si512(q, _mm512_permutexvar_epi32(order, mixed));
  // Sums of four codes, one per dword, so dword i of every lane belongs to half i.
  const __m512i fours = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), mixed);
  const __m256i eights =
      _mm256_add_epi32(_mm512_castsi512_si256(fours), _mm512_extracti64x4_epi64(fours, 1));
  const __m128i halves =
      _mm_add_epi32(_mm256_castsi256_si128(eights), _mm256_extracti128_si256(eights, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(half_sum), halves);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(sum), _mm_hadd_epi32(halves, halves));
}

}  // namespace

void Quantize(const float* x, std::int64_t k, std::int8_t* q, float* d, std::int32_t* sum,
              std::int32_t* half_sum) {
  const std::int64_t blocks = k / kBlock;
  for (std::int64_t first = 0; first < blocks; first += kStepBlocks) {
    const std::int64_t rest = blocks - first;
    const std::int64_t count = rest < kStepBlocks ? rest : kStepBlocks;
    alignas(64) float largest[kStepBlocks] = {};
    for (std::int64_t b = 0; b < count; ++b) {
      largest[b] = LargestMagnitude(x + (first + b) * kBlock);
    }
    const __m512 most = _mm512_load_ps(largest);
    const __mmask16 some = _mm512_cmp_ps_mask(most, _mm512_set1_ps(1e-30F), _CMP_GE_OQ);
    const __m512 full = _mm512_set1_ps(127.0F);
    alignas(64) float inverses[kStepBlocks];
    _mm512_store_ps(inverses, _mm512_maskz_div_ps(some, full, most));
    const auto wanted = static_cast<__mmask16>((1U << count) - 1);
    _mm512_mask_storeu_ps(d + first, wanted, _mm512_maskz_div_ps(some, most, full));
    for (std::int64_t b = 0; b < count; b += 2) {
      const std::int64_t block = first + b;
      QuantizePair(x + block * kBlock, inverses + b, q + block * kBlock, sum + block,
                   half_sum + 2 * block);
    }
  }
}

}  // namespace vivace::VIVACE_ISA
