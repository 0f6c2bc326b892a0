// The integer sums of a block of 32 k by maddubs, which adds pairs of products in 16 bits.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/avx2/block_of_row.h"
#include "kernels/avx2/forms.h"
#include "kernels/avx2/lines.h"

namespace vivace::VIVACE_ISA {
namespace {

// GCC would regroup a chain of additions so that all products are alive at once, which
// costs a third of the speed in spills: it must not see through the sum.
[[gnu::always_inline]] inline __m256i AddInOrder(__m256i sum, __m256i products) {
  sum = _mm256_add_epi16(sum, products);
  __asm__("" : "+x"(sum));
  return sum;
}

// The sums in 16 bits of Type::kPairSums quads from `start` on, for kRows activation rows,
// `k` values apart.
template <class Type, int kRows, class Block>
[[gnu::always_inline]] inline void SumPairs(const Block& block, int start, const std::int8_t* q,
                                            std::int64_t k, __m256i (&pairs)[kRows][kHalves]) {
#pragma GCC unroll 8
  for (int quad = start; quad < start + Type::kPairSums; ++quad) {
    const __m256i codes[kHalves] = {block.Quad(quad, 0), block.Quad(quad, 1)};
    for (int row = 0; row < kRows; ++row) {
      const __m256i four = BroadcastQuad(q + row * k + 4 * quad);
      for (int half = 0; half < kHalves; ++half) {
        const __m256i products = Type::Pairs(codes[half], four);
        pairs[row][half] = quad == start ? products : AddInOrder(pairs[row][half], products);
      }
    }
  }
}

// The integer sums of one block for kRows activation rows from `first` on.
template <class Type, int kRows, class Block>
[[gnu::always_inline]] inline void DotBlock(const Block& block, const BlockOfRow& first,
                                            std::int64_t k,
                                            typename Type::Dot (&dots)[kRows][kHalves]) {
#pragma GCC unroll 8
  for (int start = 0; start < 8; start += Type::kPairSums) {
    __m256i pairs[kRows][kHalves];
    SumPairs<Type, kRows>(block, start, first.q, k, pairs);
    for (int row = 0; row < kRows; ++row) {
      for (int half = 0; half < kHalves; ++half) {
        const __m256i wide = Type::Widen(pairs[row][half], block.ScalesOf(half), start);
        dots[row][half] = start == 0 ? wide : _mm256_add_epi32(dots[row][half], wide);
      }
    }
  }
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
