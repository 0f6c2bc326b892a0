#include <immintrin.h>

#include <cstdint>

#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {

void ToHalf(const float* x, std::uint16_t* out, std::int64_t size) {
  for (std::int64_t i = 0; i < size; i += 16) {
    const __m256i halves = _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), halves);
  }
}

}  // namespace vivace::VIVACE_ISA
