// The int8 dot step of AVX-VNNI on registers only: as many chains as 16 registers hold.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avxvnni/dot.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {

std::int64_t DotPeak(const std::uint8_t* a, const std::int8_t* b, std::int64_t rounds,
                     std::int32_t* out) {
  constexpr int kChains = 5;  // of each half of the lanes
  std::int32_t four = 0;
  __builtin_memcpy(&four, a, sizeof four);
  const __m256i left = _mm256_set1_epi32(four);
  const __m256i right[2] = {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 32))};
  __m256i sums[kChains][2];
  for (auto& chain : sums) chain[0] = chain[1] = _mm256_setzero_si256();
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (auto& chain : sums) {
      for (int half = 0; half < 2; ++half) chain[half] = AddDot(chain[half], left, right[half]);
    }
  }
  for (int half = 0; half < 2; ++half) {
    __m256i total = _mm256_setzero_si256();
    for (const auto& chain : sums) total = _mm256_add_epi32(total, chain[half]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * half), total);
  }
  return kChains * rounds * 64;
}

}  // namespace vivace::VIVACE_ISA
