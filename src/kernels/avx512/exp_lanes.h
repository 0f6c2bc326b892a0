// Exp of 16 floats: the operations of portable/exp_lane.h, lane by lane.
#pragma once

#include <immintrin.h>

namespace vivace::VIVACE_ISA {
namespace {

[[gnu::always_inline]] inline __m512 ExpLanes(__m512 value) {
  // In this order the minimum and the maximum pass a NaN on.
  __m512 x = _mm512_max_ps(_mm512_set1_ps(-87.0F), value);
  x = _mm512_min_ps(_mm512_set1_ps(88.0F), x);
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504088896341F)),
                                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-0.693359375F), x);
  r = _mm512_fmadd_ps(n, _mm512_set1_ps(2.12194440e-4F), r);
  __m512 p = _mm512_set1_ps(1.9875691500e-4F);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.3981999507e-3F));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(8.3334519073e-3F));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(4.1665795894e-2F));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.6666665459e-1F));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.0000001201e-1F));
  const __m512 y = _mm512_add_ps(_mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r), _mm512_set1_ps(1.0F));
  const __m512i exponent = _mm512_slli_epi32(_mm512_cvttps_epi32(n), 23);
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(y), exponent));
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
