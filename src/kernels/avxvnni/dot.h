// The instruction that the tier avxvnni is named for.
//
// VIVACE_EMULATED is a build for tests: the same instruction in the encoding of AVX-512,
// with the registers of AVX2, so that all else is compiled alike.
#pragma once

#include <immintrin.h>

namespace vivace::VIVACE_ISA {
namespace {

// Adds to every 32-bit lane the products of its four unsigned codes and four signed values.
[[gnu::always_inline]] inline __m256i AddDot(__m256i sums, __m256i codes, __m256i values) {
#ifdef VIVACE_EMULATED
  __asm__("%{evex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(codes), "x"(values));
  return sums;
#else
  return _mm256_dpbusd_avx_epi32(sums, codes, values);
#endif
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
