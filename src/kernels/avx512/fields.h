// Bit fields within bytes, for the AVX-512 kernels: nibbles, and the bits above them.
//
// With GFNI one instruction multiplies the bits of every byte by an 8 x 8 matrix, which
// moves a field and clears all else. Without it that takes a shift of 16-bit lanes and a
// mask. Everything here has internal linkage.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace vivace::VIVACE_ISA {
namespace {

[[gnu::always_inline]] inline __m512i And(__m512i a, __m512i b) { return _mm512_and_si512(a, b); }

// a | (b & c)
[[gnu::always_inline]] inline __m512i OrAnd(__m512i a, __m512i b, __m512i c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0xF8);
}

// Every byte moved left by kBy bits (right if negative). Bits that cross into the
// neighbouring byte are for the caller to mask.
template <int kBy>
[[gnu::always_inline]] inline __m512i Shift(__m512i bytes) {
  if constexpr (kBy > 0) return _mm512_slli_epi16(bytes, kBy);
  if constexpr (kBy < 0) return _mm512_srli_epi16(bytes, -kBy);
  return bytes;
}

[[gnu::always_inline]] inline __m512i LowNibbles(__m512i bytes) {
  return And(bytes, _mm512_set1_epi8(0x0F));
}

// The bits below the lowest one of a mask.
template <int kMask>
constexpr char kBelow = static_cast<char>((kMask & -kMask) - 1);

// WithField<kBy, kMask>(bytes, bits): `bits` moved left by kBy where kMask is set and, below
// that, what `bytes` has there.
#ifdef __GFNI__

// The matrix that moves bits left by `by` (right if negative) and keeps those of `mask`.
// Row 7 - i of it, a byte, selects the bits whose parity becomes bit i.
constexpr std::int64_t MoveMatrix(int by, int mask) {
  std::uint64_t matrix = 0;
  for (int bit = 0; bit < 8; ++bit) {
    const int from = bit - by;
    if ((mask >> bit & 1) == 0 || from < 0 || from > 7) continue;
    matrix |= std::uint64_t{1} << (8 * (7 - bit) + from);
  }
  return static_cast<std::int64_t>(matrix);
}

template <int kBy, int kMask>
[[gnu::always_inline]] inline __m512i Field(__m512i bytes) {
  constexpr std::int64_t kMatrix = MoveMatrix(kBy, kMask);
  return _mm512_gf2p8affine_epi64_epi8(bytes, _mm512_set1_epi64(kMatrix), 0);
}

[[gnu::always_inline]] inline __m512i HighNibbles(__m512i bytes) { return Field<-4, 0x0F>(bytes); }

template <int kBy, int kMask>
[[gnu::always_inline]] inline __m512i WithField(__m512i bytes, __m512i bits) {
  return OrAnd(Field<kBy, kMask>(bits), bytes, _mm512_set1_epi8(kBelow<kMask>));
}

#else

[[gnu::always_inline]] inline __m512i HighNibbles(__m512i bytes) {
  return LowNibbles(Shift<-4>(bytes));
}

template <int kBy, int kMask>
[[gnu::always_inline]] inline __m512i WithField(__m512i bytes, __m512i bits) {
  const __m512i below = And(bytes, _mm512_set1_epi8(kBelow<kMask>));
  return OrAnd(below, Shift<kBy>(bits), _mm512_set1_epi8(kMask));
}

#endif

}  // namespace
}  // namespace vivace::VIVACE_ISA
