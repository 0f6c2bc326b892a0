// Float weights: one fma chain per weight row over k ascending, on the float activations.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/kernel_table.h"
#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

struct F32 {
  static constexpr std::int64_t kBytes = 64;  // of 16 rows at one k
  [[gnu::always_inline]] static __m512 Load(const std::byte* at) { return _mm512_load_ps(at); }
};

struct F16 {
  static constexpr std::int64_t kBytes = 32;
  [[gnu::always_inline]] static __m512 Load(const std::byte* at) {
    return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(at)));
  }
};

struct BF16 {
  static constexpr std::int64_t kBytes = 32;
  [[gnu::always_inline]] static __m512 Load(const std::byte* at) {
    const __m256i halves = _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
  }
};

// kGroups groups x kRows activation rows: enough chains to hide the latency of fma
// without running out of registers.
template <class Type, int kGroups, int kRows>
void Tile(const std::byte* weights, std::int64_t group_bytes, const float* x, std::int64_t k,
          float* out, std::int64_t out_stride) {
  __m512 acc[kGroups][kRows];
  for (int group = 0; group < kGroups; ++group) {
    for (int row = 0; row < kRows; ++row) acc[group][row] = _mm512_setzero_ps();
  }
  for (std::int64_t i = 0; i < k; ++i) {
    for (int group = 0; group < kGroups; ++group) {
      const __m512 w = Type::Load(weights + group * group_bytes + i * Type::kBytes);
      for (int row = 0; row < kRows; ++row) {
        acc[group][row] = _mm512_fmadd_ps(w, _mm512_set1_ps(x[row * k + i]), acc[group][row]);
      }
    }
  }
  for (int group = 0; group < kGroups; ++group) {
    for (int row = 0; row < kRows; ++row) {
      _mm512_storeu_ps(out + row * out_stride + group * kGroupRows, acc[group][row]);
    }
  }
}

template <class Type, int kGroups>
void MultiplyGroups(const MatmulArgs& args, std::int64_t group) {
  const std::byte* weights = args.weights + group * args.group_bytes;
  float* out = args.out + (group - args.group_begin) * kGroupRows;
  std::int64_t row = 0;
  const auto multiply = [&](auto tile, std::int64_t rows) {
    for (; row + rows <= args.rows; row += rows) {
      tile(weights, args.group_bytes, args.activations.x + row * args.k, args.k,
           out + row * args.out_stride, args.out_stride);
    }
  };
  multiply(Tile<Type, kGroups, 6>, 6);
  multiply(Tile<Type, kGroups, 2>, 2);
  multiply(Tile<Type, kGroups, 1>, 1);
}

template <class Type>
void MatmulFloats(const MatmulArgs& args) {
  std::int64_t group = args.group_begin;
  for (; group + 4 <= args.group_end; group += 4) MultiplyGroups<Type, 4>(args, group);
  for (; group < args.group_end; ++group) MultiplyGroups<Type, 1>(args, group);
}

}  // namespace

void MatmulBF16(const MatmulArgs& args) { MatmulFloats<BF16>(args); }
void MatmulF16(const MatmulArgs& args) { MatmulFloats<F16>(args); }
void MatmulF32(const MatmulArgs& args) { MatmulFloats<F32>(args); }

}  // namespace vivace::VIVACE_ISA
