// The int8 dot step of AVX-512 VNNI on registers only: enough chains to hide its latency.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {

std::int64_t DotPeak(const std::uint8_t* a, const std::int8_t* b, std::int64_t rounds,
                     std::int32_t* out) {
  constexpr int kChains = 16;
  std::int32_t four = 0;
  __builtin_memcpy(&four, a, sizeof four);
  const __m512i left = _mm512_set1_epi32(four);
  const __m512i right = _mm512_loadu_si512(b);
  __m512i sums[kChains];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, left, right);
  }
  __m512i total = _mm512_setzero_si512();
  for (const __m512i& sum : sums) total = _mm512_add_epi32(total, sum);
  _mm512_storeu_si512(out, total);
  return kChains * rounds * 64;
}

}  // namespace vivace::VIVACE_ISA
