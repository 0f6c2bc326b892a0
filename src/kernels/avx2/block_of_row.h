// One block of 32 quantized activations of one row, for the kernels with 256-bit registers.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

struct BlockOfRow {
  const std::int8_t* q;
  const float* d;
  const std::int32_t* sum;
  const std::int32_t* half_sum;
};

[[gnu::always_inline]] inline __m256i SumOf(const BlockOfRow& a) {
  return _mm256_set1_epi32(*a.sum);
}

// The sums of both halves in 16 bits.
[[gnu::always_inline]] inline __m256i HalfSumsOf(const BlockOfRow& a) {
  const __m128i sums = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(a.half_sum));
  return _mm256_broadcastd_epi32(_mm_packs_epi32(sums, sums));
}

// acc + float(dot) * (d * d_a)
[[gnu::always_inline]] inline __m256 AddScaled(__m256 acc, __m256i dot, __m256 d, __m256 d_a) {
  return _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), _mm256_mul_ps(d, d_a), acc);
}

// acc + (float(dot) * d + float(sum) * m) * d_a
[[gnu::always_inline]] inline __m256 AddWithMinimum(__m256 acc, __m256i dot, __m256 d, __m256i sum,
                                                    __m256 m, __m256 d_a) {
  const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(dot), d);
  return _mm256_fmadd_ps(_mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), m, scaled), d_a, acc);
}

// The next block of the row.
[[gnu::always_inline]] inline BlockOfRow Next(const BlockOfRow& a) {
  return {.q = a.q + kBlock, .d = a.d + 1, .sum = a.sum + 1, .half_sum = a.half_sum + 2};
}

// The same block, `rows` rows of k values further on.
[[gnu::always_inline]] inline BlockOfRow RowAfter(const BlockOfRow& a, std::int64_t rows,
                                                  std::int64_t k) {
  const std::int64_t blocks = rows * (k / kBlock);
  return {.q = a.q + rows * k,
          .d = a.d + blocks,
          .sum = a.sum + blocks,
          .half_sum = a.half_sum + 2 * blocks};
}

// Four activations in every lane.
[[gnu::always_inline]] inline __m256i BroadcastQuad(const std::int8_t* q) {
  std::int32_t four = 0;
  __builtin_memcpy(&four, q, sizeof four);
  return _mm256_set1_epi32(four);
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
