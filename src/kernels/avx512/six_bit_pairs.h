// The six-bit pairs of a super-block, decoded: scale and minimum of Q4_K and Q5_K, the
// scales of both halves of Q3_K.
#pragma once

#include <immintrin.h>

#include <cstddef>

#include "kernels/avx512/lines.h"

namespace vivace::VIVACE_ISA {
namespace {

class SixBitPairs {
 public:
  static constexpr std::int64_t kBytes = 192;

  explicit SixBitPairs(const std::byte* at) {
    const __m512i pairs = LoadLine(at + 2 * kLine);
    Decode(0, LoadLine(at), _mm512_shuffle_i64x2(pairs, pairs, 0x50));
    Decode(1, LoadLine(at + kLine), _mm512_shuffle_i64x2(pairs, pairs, 0xFA));
  }

  // Of block `block`, as 32-bit lanes.
  __m512i First(int block) const {
    return _mm512_cvtepu8_epi32(Load16Bytes(first_ + kGroupRows * block));
  }
  __m512i Second(int block) const {
    return _mm512_cvtepu8_epi32(Load16Bytes(second_ + kGroupRows * block));
  }

 private:
  // Blocks 4 * half .. + 3: `low` holds their low four bits, `pairs` the high ones of every
  // two blocks. Even blocks have theirs in the low nibbles.
  void Decode(int half, __m512i low, __m512i pairs) {
    const __m512i high = _mm512_srlv_epi64(pairs, _mm512_set_epi64(4, 4, 0, 0, 4, 4, 0, 0));
    const __m512i top = _mm512_set1_epi8(0x30);
    _mm512_store_si512(first_ + kLine * half, OrAnd(LowNibbles(low), Shift<4>(high), top));
    _mm512_store_si512(second_ + kLine * half, OrAnd(HighNibbles(low), Shift<2>(high), top));
  }

  alignas(64) std::byte first_[2 * kLine];  // [8 blocks][16 rows]
  alignas(64) std::byte second_[2 * kLine];
};

}  // namespace
}  // namespace vivace::VIVACE_ISA
