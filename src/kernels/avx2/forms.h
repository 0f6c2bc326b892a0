// How the integer sums of a block become the float contribution to a row's product:
// quant/reference.h, 8 rows at a time.
//
// maddubs multiplies unsigned by signed bytes and adds pairs into 16 bits, where
// kPairSums of them fit without overflow: codes of up to 4 bits give at most
// 8 * 2 * 15 * 127, 5-bit codes 4 * 2 * 31 * 127, 6-bit codes 2 * 2 * 63 * 127. Widen then adds
// neighbours into 32 bits, by the instruction that also applies an integer scale.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/avx2/block_of_row.h"

namespace vivace::VIVACE_ISA {
namespace {

// Where a block has two integers per row, they come in 16 bits each: a pair. The first or
// second of each pair, twice.
[[gnu::always_inline]] inline __m256i TwiceFirst(__m256i pairs) {
  const __m128i twice = _mm_set_epi32(0x0D0C0D0C, 0x09080908, 0x05040504, 0x01000100);
  return _mm256_shuffle_epi8(pairs, _mm256_broadcastsi128_si256(twice));
}
[[gnu::always_inline]] inline __m256i TwiceSecond(__m256i pairs) {
  const __m128i twice = _mm_set_epi32(0x0F0E0F0E, 0x0B0A0B0A, 0x07060706, 0x03020302);
  return _mm256_shuffle_epi8(pairs, _mm256_broadcastsi128_si256(twice));
}

// What most forms do.
struct PlainForm {
  using Dot = __m256i;

  // Codes as Pairs takes them.
  [[gnu::always_inline]] static __m256i Operand(__m256i codes) { return codes; }
  [[gnu::always_inline]] static __m256i Pairs(__m256i codes, __m256i q) {
    return _mm256_maddubs_epi16(codes, q);
  }
  template <class Scales>
  [[gnu::always_inline]] static __m256i Widen(__m256i pairs, const Scales& /*scales*/,
                                              int /*quad*/) {
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
};

// w = d * (q - 2^kOffsetBits)
template <int kOffsetBits, int kSums>
struct OffsetForm : PlainForm {
  static constexpr int kPairSums = kSums;
  struct Scales {
    __m256 d;
  };

  [[gnu::always_inline]] static __m256 Add(__m256 acc, __m256i dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& a) {
    const __m256i offset = _mm256_slli_epi32(SumOf(a), kOffsetBits);
    return AddScaled(acc, _mm256_sub_epi32(dot, offset), scales.d, d_a);
  }
};

// w = d * q, q signed. The codes' signs go to the activations; no sum of two products
// of bytes leaves room for another in 16 bits.
struct SignedForm : PlainForm {
  static constexpr int kPairSums = 1;
  struct Scales {
    __m256 d;
  };

  [[gnu::always_inline]] static __m256i Pairs(__m256i codes, __m256i q) {
    return _mm256_maddubs_epi16(_mm256_abs_epi8(codes), _mm256_sign_epi8(q, codes));
  }
  [[gnu::always_inline]] static __m256 Add(__m256 acc, __m256i dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& /*a*/) {
    return AddScaled(acc, dot, scales.d, d_a);
  }
};

// w = d * q + m
template <int kSums>
struct MinimumForm : PlainForm {
  static constexpr int kPairSums = kSums;
  struct Scales {
    __m256 d;
    __m256 m;
  };

  [[gnu::always_inline]] static __m256 Add(__m256 acc, __m256i dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& a) {
    return AddWithMinimum(acc, dot, scales.d, SumOf(a), scales.m, d_a);
  }
};

// w = d * scale * (q - 2^kOffsetBits), with one integer scale for each half of a block
template <int kOffsetBits, int kSums>
struct ScaledHalvesForm : PlainForm {
  static constexpr int kPairSums = kSums;
  struct Scales {
    __m256 d;
    __m256i scale[2];  // of quads 0-3 and 4-7, twice in 16 bits
    __m256i offsets;   // 2^kOffsetBits * scale of both in 16 bits
  };

  // Pairs of scales.
  [[gnu::always_inline]] static Scales Of(__m256 d, __m256i pairs) {
    return {d, {TwiceFirst(pairs), TwiceSecond(pairs)}, _mm256_slli_epi16(pairs, kOffsetBits)};
  }
  [[gnu::always_inline]] static __m256i Widen(__m256i pairs, const Scales& scales, int quad) {
    return _mm256_madd_epi16(pairs, scales.scale[quad / 4]);
  }
  [[gnu::always_inline]] static __m256 Add(__m256 acc, __m256i dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& a) {
    const __m256i offset = _mm256_madd_epi16(scales.offsets, HalfSumsOf(a));
    return AddScaled(acc, _mm256_sub_epi32(dot, offset), scales.d, d_a);
  }
};

// w = d * scale * q + m * minimum, with one integer of each for each half of a block
struct HalfMinimaForm : PlainForm {
  static constexpr int kPairSums = 4;
  struct Scales {
    __m256 d;
    __m256 m;
    __m256i scale[2];  // of quads 0-3 and 4-7, twice in 16 bits
    __m256i minima;    // of both in 16 bits
  };

  // Pairs of scales and of minima.
  [[gnu::always_inline]] static Scales Of(__m256 d, __m256 m, __m256i scales, __m256i minima) {
    return {d, m, {TwiceFirst(scales), TwiceSecond(scales)}, minima};
  }
  [[gnu::always_inline]] static __m256i Widen(__m256i pairs, const Scales& scales, int quad) {
    return _mm256_madd_epi16(pairs, scales.scale[quad / 4]);
  }
  [[gnu::always_inline]] static __m256 Add(__m256 acc, __m256i dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& a) {
    const __m256i sum = _mm256_madd_epi16(scales.minima, HalfSumsOf(a));
    return AddWithMinimum(acc, dot, scales.d, sum, scales.m, d_a);
  }
};

}  // namespace
}  // namespace vivace::VIVACE_ISA
