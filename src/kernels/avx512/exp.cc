// The exponential over arrays, and the activation function made of it.
#include <immintrin.h>

#include <cstdint>

#include "kernels/avx512/exp_lanes.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {

void Exp(const float* x, float* out, std::int64_t size) {
  for (std::int64_t i = 0; i < size; i += 16) {
    _mm512_storeu_ps(out + i, ExpLanes(_mm512_loadu_ps(x + i)));
  }
}

void SiluMul(const float* gate, const float* up, float* out, std::int64_t size) {
  const __m512 sign = _mm512_set1_ps(-0.0F);
  for (std::int64_t i = 0; i < size; i += 16) {
    const __m512 g = _mm512_loadu_ps(gate + i);
    const __m512 below = _mm512_add_ps(_mm512_set1_ps(1.0F), ExpLanes(_mm512_xor_ps(g, sign)));
    _mm512_storeu_ps(out + i, _mm512_mul_ps(_mm512_div_ps(g, below), _mm512_loadu_ps(up + i)));
  }
}

}  // namespace vivace::VIVACE_ISA
