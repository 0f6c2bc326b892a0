// Lines of packed weights in registers, for the AVX-512 kernels.
//
// A line is 64 bytes, [16 rows][4 k] (kernels/packed_layout.h): exactly one register
// and one step of a 4-way dot product. Everything here has internal linkage.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/fields.h"
#include "kernels/code_books.h"
#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

// The eight quads of one block of 32 k, unsigned bytes.
struct BlockLines {
  __m512i quad[8];
};

[[gnu::always_inline]] inline void Prefetch(const std::byte* at, std::int64_t bytes) {
  for (std::int64_t offset = 0; offset < bytes; offset += kLine) {
    _mm_prefetch(reinterpret_cast<const char*>(at + offset), _MM_HINT_T0);
  }
}

[[gnu::always_inline]] inline __m512i LoadLine(const std::byte* at) {
  return _mm512_load_si512(at);
}

[[gnu::always_inline]] inline __m128i Load16Bytes(const std::byte* at) {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(at));
}

// 16 halves as floats.
[[gnu::always_inline]] inline __m512 LoadHalves(const void* at) {
  return _mm512_cvtph_ps(_mm256_load_si256(static_cast<const __m256i*>(at)));
}

[[gnu::always_inline]] inline __m512 LoadNegatedHalves(const void* at) {
  return _mm512_xor_ps(LoadHalves(at), _mm512_set1_ps(-0.0F));
}

// Adds to every lane the dot product of its four unsigned weights and the four
// activations at q. Written as an instruction because compilers load a quad that two
// products share into a register, once; reading it twice as a memory operand is 12 %
// faster in the tiles: loads have a port to spare, decoding does not.
[[gnu::always_inline]] inline __m512i AddDot(__m512i sums, __m512i weights, const std::int8_t* q) {
  struct Quad {
    std::int8_t value[4];
  };
  __asm__("vpdpbusd %2%{1to16%}, %1, %0"
          : "+v"(sums)
          : "v"(weights), "m"(*reinterpret_cast<const Quad*>(q)));
  return sums;
}

// 4 bit: low nibbles of line j are quad j, high nibbles are quad j + 4.
[[gnu::always_inline]] inline BlockLines FourBitLines(const std::byte* at) {
  BlockLines lines;
  for (int j = 0; j < 4; ++j) {
    const __m512i nibbles = LoadLine(at + kLine * j);
    lines.quad[j] = LowNibbles(nibbles);
    lines.quad[j + 4] = HighNibbles(nibbles);
  }
  return lines;
}

// The values of a code book (kernels/code_books.h) at the four bits.
[[gnu::always_inline]] inline BlockLines BookLines(const std::byte* at, const CodeBook& book) {
  const auto* values = reinterpret_cast<const __m128i*>(book.value);
  const __m512i table = _mm512_broadcast_i32x4(_mm_load_si128(values));
  BlockLines lines = FourBitLines(at);
  for (__m512i& quad : lines.quad) quad = _mm512_shuffle_epi8(table, quad);
  return lines;
}

// As FourBitLines, with anything above the codes, as WithField takes them.
[[gnu::always_inline]] inline BlockLines UnmaskedNibbles(const std::byte* at) {
  BlockLines lines;
  for (int j = 0; j < 4; ++j) {
    lines.quad[j] = LoadLine(at + kLine * j);
    lines.quad[j + 4] = Shift<-4>(lines.quad[j]);
  }
  return lines;
}

// Puts bit kQuad of `bits` at bit kPlace of that quad.
template <int kPlace, int kQuad>
[[gnu::always_inline]] inline void AddBit(__m512i bits, BlockLines& lines) {
  lines.quad[kQuad] = WithField<kPlace - kQuad, 1 << kPlace>(lines.quad[kQuad], bits);
}

template <int kPlace>
[[gnu::always_inline]] inline void AddBits(__m512i bits, BlockLines& lines) {
  AddBit<kPlace, 0>(bits, lines);
  AddBit<kPlace, 1>(bits, lines);
  AddBit<kPlace, 2>(bits, lines);
  AddBit<kPlace, 3>(bits, lines);
  AddBit<kPlace, 4>(bits, lines);
  AddBit<kPlace, 5>(bits, lines);
  AddBit<kPlace, 6>(bits, lines);
  AddBit<kPlace, 7>(bits, lines);
}

// 5 bit: a line of fifth bits, then the nibbles.
[[gnu::always_inline]] inline BlockLines FiveBitLines(const std::byte* at) {
  BlockLines lines = UnmaskedNibbles(at + kLine);
  AddBits<4>(LoadLine(at), lines);
  return lines;
}

// 2 bit: line h holds quads 4h .. 4h + 3. With anything above the codes.
[[gnu::always_inline]] inline BlockLines UnmaskedTwoBits(const std::byte* at) {
  BlockLines lines;
  for (int half = 0; half < 2; ++half) {
    __m512i* quad = lines.quad + 4 * half;
    quad[0] = LoadLine(at + kLine * half);
    quad[1] = Shift<-2>(quad[0]);
    quad[2] = Shift<-4>(quad[0]);
    quad[3] = Shift<-6>(quad[0]);
  }
  return lines;
}

// `above` is put above every code.
[[gnu::always_inline]] inline BlockLines TwoBitLines(const std::byte* at, __m512i above) {
  BlockLines lines = UnmaskedTwoBits(at);
  for (__m512i& quad : lines.quad) quad = OrAnd(above, quad, _mm512_set1_epi8(3));
  return lines;
}

// 3 bit: a line of third bits, then the two low ones.
[[gnu::always_inline]] inline BlockLines ThreeBitLines(const std::byte* at) {
  BlockLines lines = UnmaskedTwoBits(at + kLine);
  AddBits<2>(LoadLine(at), lines);
  return lines;
}

// Puts bits 2 * kPlace and up of line `half` over the nibbles of quad 4 * half + kPlace.
template <int kPlace>
[[gnu::always_inline]] inline void AddTopBits(const __m512i (&top)[2], BlockLines& lines) {
  for (int half = 0; half < 2; ++half) {
    __m512i& quad = lines.quad[4 * half + kPlace];
    quad = WithField<4 - 2 * kPlace, 0x30>(quad, top[half]);
  }
}

// 6 bit: two lines of top bits, then the nibbles.
[[gnu::always_inline]] inline BlockLines SixBitLines(const std::byte* at) {
  const __m512i top[2] = {LoadLine(at), LoadLine(at + kLine)};
  BlockLines lines = UnmaskedNibbles(at + 2 * kLine);
  AddTopBits<0>(top, lines);
  AddTopBits<1>(top, lines);
  AddTopBits<2>(top, lines);
  AddTopBits<3>(top, lines);
  return lines;
}

[[gnu::always_inline]] inline BlockLines EightBitLines(const std::byte* at) {
  BlockLines lines;
  for (int j = 0; j < 8; ++j) lines.quad[j] = LoadLine(at + kLine * j);
  return lines;
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
