// Float weights: one fma chain per weight row over k ascending, on the float activations.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

constexpr int kHalves = 2;
constexpr std::int64_t kHalfRows = 8;

struct F32 {
  static constexpr std::int64_t kBytes = 4;
  [[gnu::always_inline]] static __m256 Load(const std::byte* at) {
    return _mm256_load_ps(reinterpret_cast<const float*>(at));
  }
};

struct F16 {
  static constexpr std::int64_t kBytes = 2;
  [[gnu::always_inline]] static __m256 Load(const std::byte* at) {
    return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(at)));
  }
};

struct BF16 {
  static constexpr std::int64_t kBytes = 2;
  [[gnu::always_inline]] static __m256 Load(const std::byte* at) {
    const __m128i halves = _mm_load_si128(reinterpret_cast<const __m128i*>(at));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
  }
};

struct Tile {
  const std::byte* weights;
  std::int64_t group_bytes;
  const float* x;
  std::int64_t k;
  float* out;
  std::int64_t out_stride;
};

// kGroups groups x kRows activation rows: enough chains to hide the latency of fma
// without running out of registers.
template <class Type, int kGroups, int kRows>
void Multiply(const Tile& tile) {
  __m256 acc[kGroups][kRows][kHalves];
  for (auto& group : acc) {
    for (auto& row : group) row[0] = row[1] = _mm256_setzero_ps();
  }
  for (std::int64_t k = 0; k < tile.k; ++k) {
    for (int group = 0; group < kGroups; ++group) {
      const std::byte* at = tile.weights + group * tile.group_bytes + k * kGroupRows * Type::kBytes;
      const __m256 low = Type::Load(at);
      const __m256 high = Type::Load(at + kHalfRows * Type::kBytes);
      for (int row = 0; row < kRows; ++row) {
        const __m256 x = _mm256_set1_ps(tile.x[row * tile.k + k]);
        acc[group][row][0] = _mm256_fmadd_ps(low, x, acc[group][row][0]);
        acc[group][row][1] = _mm256_fmadd_ps(high, x, acc[group][row][1]);
      }
    }
  }
  for (int group = 0; group < kGroups; ++group) {
    for (int row = 0; row < kRows; ++row) {
      float* out = tile.out + row * tile.out_stride + group * kGroupRows;
      _mm256_storeu_ps(out, acc[group][row][0]);
      _mm256_storeu_ps(out + kHalfRows, acc[group][row][1]);
    }
  }
}

// Rows in tiles of 6, the rest in pairs and singly. Sixes run one group at a time.
template <class Type, int kGroups>
void MultiplyGroups(const MatmulArgs& args, std::int64_t group) {
  Tile tile = {.weights = args.weights + group * args.group_bytes,
               .group_bytes = args.group_bytes,
               .x = args.activations.x,
               .k = args.k,
               .out = args.out + (group - args.group_begin) * kGroupRows,
               .out_stride = args.out_stride};
  std::int64_t row = 0;
  const auto advance = [&](std::int64_t rows) {
    row += rows;
    tile.x += rows * args.k;
    tile.out += rows * args.out_stride;
  };
  for (; row + 6 <= args.rows; advance(6)) {
    Tile one = tile;
    for (int i = 0; i < kGroups; ++i) {
      Multiply<Type, 1, 6>(one);
      one.weights += args.group_bytes;
      one.out += kGroupRows;
    }
  }
  for (; row + 2 <= args.rows; advance(2)) Multiply<Type, kGroups, 2>(tile);
  for (; row < args.rows; advance(1)) Multiply<Type, kGroups, 1>(tile);
}

template <class Type>
void MatmulFloats(const MatmulArgs& args) {
  std::int64_t group = args.group_begin;
  for (; group + 3 <= args.group_end; group += 3) MultiplyGroups<Type, 3>(args, group);
  for (; group < args.group_end; ++group) MultiplyGroups<Type, 1>(args, group);
}

}  // namespace

void MatmulF32(const MatmulArgs& args) { MatmulFloats<F32>(args); }
void MatmulBF16(const MatmulArgs& args) { MatmulFloats<BF16>(args); }
void MatmulF16(const MatmulArgs& args) { MatmulFloats<F16>(args); }

}  // namespace vivace::VIVACE_ISA
