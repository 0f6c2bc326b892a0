// Lines of packed weights in registers, for the AVX2 kernels.
//
// A line is 64 bytes, [16 rows][4 k] (kernels/packed_layout.h): two registers of 8 rows.
// `half` says which. Everything here has internal linkage.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/code_books.h"
#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

constexpr int kHalves = 2;
constexpr std::int64_t kHalfRows = 8;
constexpr std::int64_t kHalfLine = 32;  // bytes

[[gnu::always_inline]] inline void Prefetch(const std::byte* at, std::int64_t bytes) {
  for (std::int64_t offset = 0; offset < bytes; offset += kLine) {
    _mm_prefetch(reinterpret_cast<const char*>(at + offset), _MM_HINT_T0);
  }
}

[[gnu::always_inline]] inline __m256i Load(const std::byte* at) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
}

// 8 halves as floats.
[[gnu::always_inline]] inline __m256 LoadHalves(const std::byte* at) {
  return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(at)));
}

[[gnu::always_inline]] inline __m256 LoadNegatedHalves(const std::byte* at) {
  return _mm256_xor_ps(LoadHalves(at), _mm256_set1_ps(-0.0F));
}

// Every byte moved left by `by` bits (right if negative). Bits that cross into the
// neighbouring byte are for the caller to mask.
[[gnu::always_inline]] inline __m256i Shift(__m256i bytes, int by) {
  return by < 0 ? _mm256_srli_epi16(bytes, -by) : _mm256_slli_epi16(bytes, by);
}

[[gnu::always_inline]] inline __m256i Masked(__m256i bytes, char mask) {
  return _mm256_and_si256(bytes, _mm256_set1_epi8(mask));
}

// How a block's lines become the codes of a quad, all rows of one half. `quad` is a
// constant once the loop around it is unrolled.
struct FourBit {
  static constexpr std::int64_t kLines = 4;
  [[gnu::always_inline]] static __m256i Quad(const std::byte* lines, int quad, int half) {
    const __m256i nibbles = Load(lines + kLine * (quad % 4) + kHalfLine * half);
    return Masked(Shift(nibbles, quad < 4 ? 0 : -4), 0x0F);
  }
};

struct FiveBit {
  static constexpr std::int64_t kLines = 5;
  [[gnu::always_inline]] static __m256i Quad(const std::byte* lines, int quad, int half) {
    const __m256i fifth = Masked(Shift(Load(lines + kHalfLine * half), 4 - quad), 0x10);
    return _mm256_or_si256(FourBit::Quad(lines + kLine, quad, half), fifth);
  }
};

struct TwoBit {
  static constexpr std::int64_t kLines = 2;
  [[gnu::always_inline]] static __m256i Quad(const std::byte* lines, int quad, int half) {
    const __m256i bits = Load(lines + kLine * (quad / 4) + kHalfLine * half);
    return Masked(Shift(bits, -2 * (quad % 4)), 3);
  }
};

struct ThreeBit {
  static constexpr std::int64_t kLines = 3;
  [[gnu::always_inline]] static __m256i Quad(const std::byte* lines, int quad, int half) {
    const __m256i third = Masked(Shift(Load(lines + kHalfLine * half), 2 - quad), 4);
    return _mm256_or_si256(TwoBit::Quad(lines + kLine, quad, half), third);
  }
};

struct SixBit {
  static constexpr std::int64_t kLines = 6;
  [[gnu::always_inline]] static __m256i Quad(const std::byte* lines, int quad, int half) {
    const __m256i bits = Load(lines + kLine * (quad / 4) + kHalfLine * half);
    const __m256i top = Masked(Shift(bits, 4 - 2 * (quad % 4)), 0x30);
    return _mm256_or_si256(FourBit::Quad(lines + 2 * kLine, quad, half), top);
  }
};

// Signed, unlike the others.
struct EightBit {
  static constexpr std::int64_t kLines = 8;
  [[gnu::always_inline]] static __m256i Quad(const std::byte* lines, int quad, int half) {
    const __m256i sign = _mm256_set1_epi8(static_cast<char>(0x80));
    return _mm256_xor_si256(Load(lines + kLine * quad + kHalfLine * half), sign);
  }
};

// The values of a code book, less `offset`, at four bits.
template <int kOffset>
[[gnu::always_inline]] inline __m256i LookUp(const CodeBook& book, __m256i places) {
  const __m128i raised = _mm_load_si128(reinterpret_cast<const __m128i*>(book.value));
  const __m128i values = _mm_sub_epi8(raised, _mm_set1_epi8(static_cast<char>(kOffset)));
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(values), places);
}

// Signed.
struct Iq4Values {
  static constexpr std::int64_t kLines = 4;
  [[gnu::always_inline]] static __m256i Quad(const std::byte* lines, int quad, int half) {
    return LookUp<kIq4Offset>(kIq4Book, FourBit::Quad(lines, quad, half));
  }
};

// Raised to 5 bits, unsigned.
struct Mxfp4Values {
  static constexpr std::int64_t kLines = 4;
  [[gnu::always_inline]] static __m256i Quad(const std::byte* lines, int quad, int half) {
    return LookUp<0>(kMxfp4Book, FourBit::Quad(lines, quad, half));
  }
};

}  // namespace
}  // namespace vivace::VIVACE_ISA
