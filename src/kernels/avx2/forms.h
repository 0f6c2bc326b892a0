// How the integer sums of a block become the float contribution to a row's product:
// quant/reference.h, 8 rows at a time.
//
// maddubs multiplies unsigned by signed bytes and adds pairs into 16 bits, where
// kPairSums of them fit without overflow: codes of up to 4 bits give at most
// 8 * 2 * 15 * 127, 5-bit codes 4 * 2 * 31 * 127, 6-bit codes 2 * 2 * 63 * 127. Widen then adds
// neighbours into 32 bits, by the instruction that also applies an integer scale.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/kernel_table.h"

namespace vivace::avx2 {
namespace {

// The values of one block of one activation row.
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

// What most forms do.
struct PlainForm {
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

// w = d * scale * q, q signed, scale a small integer
struct ScaledSignedForm : SignedForm {
  struct Scales {
    __m256 d;
    __m256i scale;  // twice in 16 bits
  };

  [[gnu::always_inline]] static __m256i Widen(__m256i pairs, const Scales& scales, int /*quad*/) {
    return _mm256_madd_epi16(pairs, scales.scale);
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
    return AddScaled(AddScaled(acc, dot, scales.d, d_a), SumOf(a), scales.m, d_a);
  }
};

// w = d * scale * q - d_min * minimum, scale and minimum small integers
template <int kSums>
struct ScaledMinimumForm : PlainForm {
  static constexpr int kPairSums = kSums;
  struct Scales {
    __m256 d;
    __m256 d_min;
    __m256i scale;   // twice in 16 bits
    __m256 minimum;  // an integer
  };

  [[gnu::always_inline]] static __m256i Widen(__m256i pairs, const Scales& scales, int /*quad*/) {
    return _mm256_madd_epi16(pairs, scales.scale);
  }
  [[gnu::always_inline]] static __m256 Add(__m256 acc, __m256i dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& a) {
    acc = AddScaled(acc, dot, scales.d, d_a);
    // Below 2^24, so exact.
    const __m256 minimum = _mm256_mul_ps(scales.minimum, _mm256_cvtepi32_ps(SumOf(a)));
    return _mm256_fnmadd_ps(minimum, _mm256_mul_ps(scales.d_min, d_a), acc);
  }
};

// w = d * scale * (q - offset), with one integer scale for each half of a block
template <int kSums>
struct ScaledHalvesForm : PlainForm {
  static constexpr int kPairSums = kSums;
  struct Scales {
    __m256 d;
    __m256i scale[2];  // of quads 0-3 and 4-7, twice in 16 bits
    __m256i offsets;   // offset * scale of both in 16 bits
  };

  [[gnu::always_inline]] static __m256i Widen(__m256i pairs, const Scales& scales, int quad) {
    return _mm256_madd_epi16(pairs, scales.scale[quad / 4]);
  }
  [[gnu::always_inline]] static __m256 Add(__m256 acc, __m256i dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& a) {
    const __m256i offset = _mm256_madd_epi16(scales.offsets, HalfSumsOf(a));
    return AddScaled(acc, _mm256_sub_epi32(dot, offset), scales.d, d_a);
  }
};

// w = d * scale * q - d_min * minimum, with one integer of each for each half of a block
struct HalfMinimaForm : PlainForm {
  static constexpr int kPairSums = 4;
  struct Scales {
    __m256 d;
    __m256 d_min;
    __m256i scale[2];  // of quads 0-3 and 4-7, twice in 16 bits
    __m256i minima;    // of both in 16 bits
  };

  [[gnu::always_inline]] static __m256i Widen(__m256i pairs, const Scales& scales, int quad) {
    return _mm256_madd_epi16(pairs, scales.scale[quad / 4]);
  }
  [[gnu::always_inline]] static __m256 Add(__m256 acc, __m256i dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& a) {
    acc = AddScaled(acc, dot, scales.d, d_a);
    const __m256 minimum = _mm256_cvtepi32_ps(_mm256_madd_epi16(scales.minima, HalfSumsOf(a)));
    return _mm256_fnmadd_ps(minimum, _mm256_mul_ps(scales.d_min, d_a), acc);
  }
};

}  // namespace
}  // namespace vivace::avx2
