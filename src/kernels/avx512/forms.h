// How the integer sums of a block become the float contribution to a row's product:
// quant/reference.h, 16 rows at a time.
//
// A form names the offset that makes codes unsigned, the vectors of scales a block has
// (one lane per row) and what is prepared from the activations' sums before the weights
// are read. Products of an integer scale and an integer sum stay below 2^24, so floats hold
// them exactly; they are made by fma with +0 because float(0 * -5) is +0, as the definition
// has it.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/kernel_table.h"

namespace vivace::VIVACE_ISA {
namespace {

[[gnu::always_inline]] inline __m512 ExactProduct(__m512 a, __m512 b) {
  return _mm512_fmadd_ps(a, b, _mm512_setzero_ps());
}

// float(dot) * d + sum * m
[[gnu::always_inline]] inline __m512 WithMinimum(__m512i dot, __m512 d, __m512 sum, __m512 m) {
  return _mm512_fmadd_ps(sum, m, _mm512_mul_ps(_mm512_cvtepi32_ps(dot), d));
}

[[gnu::always_inline]] inline __m512 PreparedFloat(const std::int32_t* prepared) {
  return _mm512_castsi512_ps(_mm512_set1_epi32(*prepared));
}

// out[i] = factor * sums[i]: what an integer sum starts at when weights are stored with
// an offset, so that removing it costs nothing in the loop.
inline void PrepareStarts(const std::int32_t* sums, std::int64_t count, std::int32_t factor,
                          std::int32_t* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = factor * sums[i];
}

inline void PrepareFloats(const std::int32_t* sums, std::int64_t count, std::int32_t* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(sums[i]);
    __builtin_memcpy(out + i, &value, sizeof value);
  }
}

// Of codes stored with an offset: sums start at what removes it.
template <int kOffset>
struct OffsetSums {
  static constexpr int kCodeOffset = kOffset;
  static constexpr int kSums = 1;  // integer sums per block

  // Writes kSums values per block, for `blocks` blocks of one row starting at `block`.
  static void Prepare(const Activations& row, std::int64_t block, std::int64_t blocks,
                      std::int32_t* out) {
    PrepareStarts(row.sum + block, blocks, -kOffset, out);
  }
  [[gnu::always_inline]] static __m512i Start(const std::int32_t* prepared) {
    return _mm512_set1_epi32(*prepared);
  }
};

// Of codes as they are, beside a term of the activations' sums.
struct PlainSums {
  static constexpr int kCodeOffset = 0;
  static constexpr int kSums = 1;

  static void Prepare(const Activations& row, std::int64_t block, std::int64_t blocks,
                      std::int32_t* out) {
    PrepareFloats(row.sum + block, blocks, out);
  }
  [[gnu::always_inline]] static __m512i Start(const std::int32_t* /*prepared*/) {
    return _mm512_setzero_si512();
  }
};

// w = d * (q - kOffset)
template <int kOffset>
struct OffsetForm : OffsetSums<kOffset> {
  struct Scales {
    __m512 d;
  };

  [[gnu::always_inline]] static __m512 Add(__m512 acc, const __m512i (&sums)[1],
                                           const Scales& scales, __m512 d_a,
                                           const std::int32_t* /*prepared*/) {
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[0]), _mm512_mul_ps(scales.d, d_a), acc);
  }
};

// w = d * q + m
struct MinimumForm : PlainSums {
  struct Scales {
    __m512 d;
    __m512 m;
  };

  [[gnu::always_inline]] static __m512 Add(__m512 acc, const __m512i (&sums)[kSums],
                                           const Scales& scales, __m512 d_a,
                                           const std::int32_t* prepared) {
    const __m512 of_block = WithMinimum(sums[0], scales.d, PreparedFloat(prepared), scales.m);
    return _mm512_fmadd_ps(of_block, d_a, acc);
  }
};

// w = d * q + m * minimum, q with its integer scale already in it and one integer minimum
// for each half of a block
struct HalfMinimaForm : PlainSums {
  struct Scales {
    __m512 d;
    __m512 m;
    __m512i minima;  // of both halves, in 16 bits
  };

  // Both halves' sums in 16 bits.
  static void Prepare(const Activations& row, std::int64_t block, std::int64_t blocks,
                      std::int32_t* out) {
    for (std::int64_t i = 0; i < blocks; ++i) {
      const std::int32_t* half_sum = row.half_sum + 2 * (block + i);
      out[i] = (half_sum[0] & 0xFFFF) | half_sum[1] * 0x10000;
    }
  }
  [[gnu::always_inline]] static __m512 Add(__m512 acc, const __m512i (&sums)[kSums],
                                           const Scales& scales, __m512 d_a,
                                           const std::int32_t* prepared) {
    const __m512i sum = _mm512_madd_epi16(scales.minima, _mm512_set1_epi32(*prepared));
    const __m512 of_block = WithMinimum(sums[0], scales.d, _mm512_cvtepi32_ps(sum), scales.m);
    return _mm512_fmadd_ps(of_block, d_a, acc);
  }
};

// w = d * scale * (q - kOffset), with one integer scale for each half of a block
template <int kOffset>
struct ScaledHalvesForm {
  static constexpr int kCodeOffset = kOffset;
  static constexpr int kSums = 2;
  struct Scales {
    __m512 d;
    __m512 scale[2];
  };

  static void Prepare(const Activations& row, std::int64_t block, std::int64_t blocks,
                      std::int32_t* out) {
    PrepareStarts(row.half_sum + 2 * block, 2 * blocks, -kOffset, out);
  }
  [[gnu::always_inline]] static __m512i Start(const std::int32_t* prepared) {
    return _mm512_set1_epi32(*prepared);
  }
  [[gnu::always_inline]] static __m512 Add(__m512 acc, const __m512i (&sums)[kSums],
                                           const Scales& scales, __m512 d_a,
                                           const std::int32_t* /*prepared*/) {
    __m512 dot = ExactProduct(scales.scale[1], _mm512_cvtepi32_ps(sums[1]));
    dot = _mm512_fmadd_ps(scales.scale[0], _mm512_cvtepi32_ps(sums[0]), dot);
    return _mm512_fmadd_ps(dot, _mm512_mul_ps(scales.d, d_a), acc);
  }
};

}  // namespace
}  // namespace vivace::VIVACE_ISA
