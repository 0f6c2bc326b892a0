// How the integer sums of a block become the float contribution to a row's product:
// quant/reference.h, 8 rows at a time, for sums made by AddDot (dot.h).
//
// The forms have the names and members that avx2/forms.h has, so that the types that are
// made of them are one source. Products of an integer scale and an integer sum stay below
// 2^24, so floats hold them exactly; they are made by fma with +0 because
// float(0 * -5) is +0, as the definition has it.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/avx2/block_of_row.h"

namespace vivace::VIVACE_ISA {
namespace {

[[gnu::always_inline]] inline __m256 ExactProduct(__m256 a, __m256i b) {
  return _mm256_fmadd_ps(a, _mm256_cvtepi32_ps(b), _mm256_setzero_ps());
}

// The first or second of each pair of 16-bit integers.
[[gnu::always_inline]] inline __m256 First(__m256i pairs) {
  return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(pairs, 16), 16));
}
[[gnu::always_inline]] inline __m256 Second(__m256i pairs) {
  return _mm256_cvtepi32_ps(_mm256_srai_epi32(pairs, 16));
}

// -2^bits * sum: what a sum starts at when codes are stored with an offset, so that
// nothing is to be removed at the end.
[[gnu::always_inline]] inline __m256i OffsetStart(const std::int32_t* sum, int bits) {
  return _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(_mm256_set1_epi32(*sum), bits));
}

// What most forms do: one sum per row and block, of codes as they are.
struct PlainForm {
  struct Dot {
    __m256i sum[1];
  };

  [[gnu::always_inline]] static __m256i Operand(__m256i codes) { return codes; }
  [[gnu::always_inline]] static Dot Start(const BlockOfRow& /*a*/) {
    return {{_mm256_setzero_si256()}};
  }
};

// w = d * (q - 2^kOffsetBits). The second parameter is of use to avx2.
template <int kOffsetBits, int /*kPairSums*/>
struct OffsetForm : PlainForm {
  struct Scales {
    __m256 d;
  };

  [[gnu::always_inline]] static Dot Start(const BlockOfRow& a) {
    return {{OffsetStart(a.sum, kOffsetBits)}};
  }
  [[gnu::always_inline]] static __m256 Add(__m256 acc, const Dot& dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& /*a*/) {
    return AddScaled(acc, dot.sum[0], scales.d, d_a);
  }
};

// w = d * q, q signed: 128 makes them unsigned.
struct SignedForm : OffsetForm<7, 1> {
  [[gnu::always_inline]] static __m256i Operand(__m256i codes) {
    return _mm256_xor_si256(codes, _mm256_set1_epi8(static_cast<char>(0x80)));
  }
};

// w = d * q + m
template <int /*kPairSums*/>
struct MinimumForm : PlainForm {
  struct Scales {
    __m256 d;
    __m256 m;
  };

  [[gnu::always_inline]] static __m256 Add(__m256 acc, const Dot& dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& a) {
    return AddWithMinimum(acc, dot.sum[0], scales.d, SumOf(a), scales.m, d_a);
  }
};

// What forms with an integer scale for each half of a block share.
struct HalvesForm : PlainForm {
  struct Dot {
    __m256i sum[2];
  };

  [[gnu::always_inline]] static __m256 Scaled(const Dot& dot, const __m256 (&scale)[2]) {
    const __m256 second = ExactProduct(scale[1], dot.sum[1]);
    return _mm256_fmadd_ps(scale[0], _mm256_cvtepi32_ps(dot.sum[0]), second);
  }
};

// w = d * scale * (q - 2^kOffsetBits), with one integer scale for each half of a block
template <int kOffsetBits, int /*kPairSums*/>
struct ScaledHalvesForm : HalvesForm {
  struct Scales {
    __m256 d;
    __m256 scale[2];
  };

  [[gnu::always_inline]] static Scales Of(__m256 d, __m256i pairs) {
    return {d, {First(pairs), Second(pairs)}};
  }
  [[gnu::always_inline]] static Dot Start(const BlockOfRow& a) {
    return {{OffsetStart(a.half_sum, kOffsetBits), OffsetStart(a.half_sum + 1, kOffsetBits)}};
  }
  [[gnu::always_inline]] static __m256 Add(__m256 acc, const Dot& dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& /*a*/) {
    return _mm256_fmadd_ps(Scaled(dot, scales.scale), _mm256_mul_ps(scales.d, d_a), acc);
  }
};

// w = d * scale * q + m * minimum, with one integer of each for each half of a block
struct HalfMinimaForm : HalvesForm {
  struct Scales {
    __m256 d;
    __m256 m;
    __m256 scale[2];
    __m256i minima;  // of both in 16 bits
  };

  [[gnu::always_inline]] static Scales Of(__m256 d, __m256 m, __m256i scales, __m256i minima) {
    return {d, m, {First(scales), Second(scales)}, minima};
  }
  [[gnu::always_inline]] static Dot Start(const BlockOfRow& /*a*/) {
    return {{_mm256_setzero_si256(), _mm256_setzero_si256()}};
  }
  [[gnu::always_inline]] static __m256 Add(__m256 acc, const Dot& dot, const Scales& scales,
                                           __m256 d_a, const BlockOfRow& a) {
    const __m256 minimum = _mm256_cvtepi32_ps(_mm256_madd_epi16(scales.minima, HalfSumsOf(a)));
    const __m256 scaled = _mm256_mul_ps(Scaled(dot, scales.scale), scales.d);
    return _mm256_fmadd_ps(_mm256_fmadd_ps(minimum, scales.m, scaled), d_a, acc);
  }
};

}  // namespace
}  // namespace vivace::VIVACE_ISA
