// The integer sums of a block of 32 k by AddDot, which adds four products in 32 bits.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/avx2/block_of_row.h"
#include "kernels/avx2/lines.h"
#include "kernels/avxvnni/dot.h"
#include "kernels/avxvnni/forms.h"

namespace vivace::VIVACE_ISA {
namespace {

// For kRows activation rows from `first` on. A quad's activations serve all 16 weight rows.
template <class Type, int kRows, class Block>
[[gnu::always_inline]] inline void DotBlock(const Block& block, const BlockOfRow& first,
                                            std::int64_t k,
                                            typename Type::Dot (&dots)[kRows][kHalves]) {
  constexpr int kQuads = 8 / (sizeof(typename Type::Dot) / sizeof(__m256i));  // per sum
  for (int row = 0; row < kRows; ++row) {
    dots[row][0] = dots[row][1] = Type::Start(RowAfter(first, row, k));
  }
#pragma GCC unroll 8
  for (int quad = 0; quad < 8; ++quad) {
    const __m256i codes[kHalves] = {block.Quad(quad, 0), block.Quad(quad, 1)};
    for (int row = 0; row < kRows; ++row) {
      const __m256i four = BroadcastQuad(first.q + row * k + 4 * quad);
      for (int half = 0; half < kHalves; ++half) {
        __m256i& sum = dots[row][half].sum[quad / kQuads];
        sum = AddDot(sum, codes[half], four);
      }
    }
  }
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
