// Attention of one chunk of 128 positions; see AttentionChunkArgs for the definition.
//
// Keys of two pages, then values of 32 dimensions, are converted to floats once and used
// by all heads of up to kRowTile query rows. For scores the lanes are positions, for the
// output they are dimensions, so nothing is summed across lanes but the weights.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/exp_lanes.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

constexpr std::int64_t kChunk = 128;  // positions
constexpr std::int64_t kPage = 16;
constexpr std::int64_t kMaxDim = 256;
constexpr std::int64_t kHeadTile = 8;
constexpr std::int64_t kRowTile = 8;
constexpr std::int64_t kWide = 32;  // positions or dimensions that a pair of registers holds

// What one tile of query rows and heads works on; 64 KB.
struct Space {
  alignas(64) float wide[kMaxDim * kWide];  // keys [dim][32 positions], values [128][32 dims]
  alignas(64) float weights[kRowTile][kHeadTile][kChunk];  // scores at first
};

struct Tile {
  const AttentionChunkArgs& args;
  std::int64_t row;
  std::int64_t rows;
  std::int64_t head;
  std::int64_t heads;

  const float* q(std::int64_t r) const {
    return args.q + (row + r) * args.q_stride + head * args.dim;
  }
  std::int64_t at(std::int64_t r) const { return (row + r) * args.heads + head; }
  std::int64_t visible(std::int64_t r) const {
    const std::int64_t seen = args.visible + row + r;
    return seen < 0 ? 0 : seen < kChunk ? seen : kChunk;
  }
};

__m512 LoadHalves(const std::uint16_t* at) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}

// Lines of the pages that are wanted next. A step of 32 positions or dimensions has as
// many rounds as the next chunk has lines at its place, so each round fetches one.
struct Next {
  const std::uint16_t* const* pages;  // follow the chunk's own
  std::int64_t count;
  std::int64_t lines;  // of a page

  void Fetch(std::int64_t page, std::int64_t line) const {
    if (line >= lines) ++page, line -= lines;
    if (page >= count) return;
    _mm_prefetch(reinterpret_cast<const char*>(pages[kChunk / kPage + page] + 32 * line),
                 _MM_HINT_T0);
  }
};

Next NextOf(const AttentionChunkArgs& args, const std::uint16_t* const* pages) {
  return {.pages = pages, .count = args.next_pages, .lines = args.dim / 2};
}

template <int kHeads>
struct Accumulators {
  __m512 at[kHeads][2];

  Accumulators() {
    for (int h = 0; h < kHeads; ++h) at[h][0] = at[h][1] = _mm512_setzero_ps();
  }
  // += a[h] * (low, high), the heads' factors `stride` apart.
  [[gnu::always_inline]] void Add(const float* a, std::int64_t stride, __m512 low, __m512 high) {
    for (int h = 0; h < kHeads; ++h) {
      const __m512 factor = _mm512_set1_ps(a[h * stride]);
      at[h][0] = _mm512_fmadd_ps(factor, low, at[h][0]);
      at[h][1] = _mm512_fmadd_ps(factor, high, at[h][1]);
    }
  }
  void Store(float* out, std::int64_t stride, bool both) const {
    for (int h = 0; h < kHeads; ++h) {
      _mm512_storeu_ps(out + h * stride, at[h][0]);
      if (both) _mm512_storeu_ps(out + h * stride + 16, at[h][1]);
    }
  }
};

// Over count steps of a and of wide's rows of 32: the one loop of both the scores (a = q,
// steps = dimensions) and the output (a = weights, steps = positions).
template <int kHeads>
void Accumulate(const float* a, std::int64_t a_stride, const float* wide, std::int64_t count,
                float* out, std::int64_t out_stride, bool both) {
  Accumulators<kHeads> acc;
  for (std::int64_t i = 0; i < count; ++i) {
    acc.Add(a + i, a_stride, _mm512_load_ps(wide + kWide * i),
            _mm512_load_ps(wide + kWide * i + 16));
  }
  acc.Store(out, out_stride, both);
}

using Accumulator = void (*)(const float*, std::int64_t, const float*, std::int64_t, float*,
                             std::int64_t, bool);
constexpr Accumulator kAccumulate[kHeadTile + 1] = {nullptr,       Accumulate<1>, Accumulate<2>,
                                                    Accumulate<3>, Accumulate<4>, Accumulate<5>,
                                                    Accumulate<6>, Accumulate<7>, Accumulate<8>};

void Scores(const Tile& tile, std::int64_t most, Space& space) {
  const std::int64_t dim = tile.args.dim;
  const Next next = NextOf(tile.args, tile.args.keys);
  for (std::int64_t first = 0; first < most; first += kWide) {
    const std::uint16_t* low = tile.args.keys[first / kPage];
    // A second page that nobody sees may not exist.
    const std::uint16_t* high = first + kPage < most ? tile.args.keys[first / kPage + 1] : low;
    for (std::int64_t d = 0; d < dim; ++d) {
      _mm512_store_ps(space.wide + kWide * d, LoadHalves(low + kPage * d));
      _mm512_store_ps(space.wide + kWide * d + 16, LoadHalves(high + kPage * d));
      next.Fetch(first / kPage, d);
    }
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      if (tile.visible(r) <= first) continue;
      kAccumulate[tile.heads](tile.q(r), dim, space.wide, dim, space.weights[r][0] + first, kChunk,
                              true);
    }
  }
}

// 8-4-2-1.
float SumLanes(__m512 v) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// The largest of the first `visible` scores; the last, partial vector may hold anything
// beyond what is visible.
float Largest(const float* scores, std::int64_t visible) {
  const std::int64_t whole = visible / 16 * 16;
  const auto rest = static_cast<__mmask16>((1U << (visible - whole)) - 1);
  const __m512 lowest = _mm512_set1_ps(-__builtin_inff());
  __m512 most = _mm512_mask_loadu_ps(lowest, rest, scores + whole);
  for (std::int64_t p = 0; p < whole; p += 16) {
    most = _mm512_max_ps(most, _mm512_load_ps(scores + p));
  }
  return _mm512_reduce_max_ps(most);
}

// Turns scores into weights; returns their sums per lane.
__m512 Weigh(float* scores, std::int64_t visible, float largest) {
  const __m512 top = _mm512_set1_ps(largest);
  __m512 sums = _mm512_setzero_ps();
  std::int64_t p = 0;
  for (; p + 16 <= visible; p += 16) {
    const __m512 e = ExpLanes(_mm512_sub_ps(_mm512_load_ps(scores + p), top));
    _mm512_store_ps(scores + p, e);
    sums = _mm512_add_ps(sums, e);
  }
  const auto rest = static_cast<__mmask16>((1U << (visible - p)) - 1);
  if (rest == 0) return sums;
  const __m512 e = ExpLanes(_mm512_sub_ps(_mm512_maskz_loadu_ps(rest, scores + p), top));
  _mm512_mask_storeu_ps(scores + p, rest, e);
  return _mm512_mask_add_ps(sums, rest, sums, e);
}

// The scores of all heads of a row become weights. In three rounds, so that what waits for
// a result of one head computes on another.
void Soften(const Tile& tile, std::int64_t r, Space& space) {
  const std::int64_t visible = tile.visible(r);
  float* max = tile.args.max + tile.at(r);
  __m512 sums[kHeadTile];
  for (std::int64_t h = 0; h < tile.heads; ++h) max[h] = Largest(space.weights[r][h], visible);
  for (std::int64_t h = 0; h < tile.heads; ++h) {
    sums[h] = Weigh(space.weights[r][h], visible, max[h]);
  }
  for (std::int64_t h = 0; h < tile.heads; ++h) tile.args.sum[tile.at(r) + h] = SumLanes(sums[h]);
}

void Output(const Tile& tile, std::int64_t most, Space& space) {
  const std::int64_t dim = tile.args.dim;
  const Next next = NextOf(tile.args, tile.args.values);
  for (std::int64_t d = 0; d < dim; d += kWide) {
    const bool both = d + 16 < dim;
    for (std::int64_t p = 0; p < most; ++p) {
      const std::uint16_t* values = tile.args.values[p / kPage] + p % kPage * dim + d;
      _mm512_store_ps(space.wide + kWide * p, LoadHalves(values));
      _mm512_store_ps(space.wide + kWide * p + 16, LoadHalves(both ? values + 16 : values));
      next.Fetch(p / kPage, d / 2 + p % kPage);
    }
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      if (tile.visible(r) == 0) continue;
      kAccumulate[tile.heads](space.weights[r][0], kChunk, space.wide, tile.visible(r),
                              tile.args.out + tile.at(r) * dim + d, dim, both);
    }
  }
}

// The same for a tile of one row, whose pages are used once: straight from them.
template <int kHeads>
void ScoresOfOne(const Tile& tile, std::int64_t most, Space& space) {
  const std::int64_t dim = tile.args.dim;
  const Next next = NextOf(tile.args, tile.args.keys);
  for (std::int64_t first = 0; first < most; first += kWide) {
    const std::uint16_t* low = tile.args.keys[first / kPage];
    const std::uint16_t* high = first + kPage < most ? tile.args.keys[first / kPage + 1] : low;
    Accumulators<kHeads> acc;
    for (std::int64_t d = 0; d < dim; ++d) {
      acc.Add(tile.q(0) + d, dim, LoadHalves(low + kPage * d), LoadHalves(high + kPage * d));
      next.Fetch(first / kPage, d);
    }
    acc.Store(space.weights[0][0] + first, kChunk, true);
  }
}

template <int kHeads>
void OutputOfOne(const Tile& tile, std::int64_t most, Space& space) {
  const std::int64_t dim = tile.args.dim;
  const Next next = NextOf(tile.args, tile.args.values);
  for (std::int64_t d = 0; d < dim; d += kWide) {
    const bool both = d + 16 < dim;
    Accumulators<kHeads> acc;
    for (std::int64_t p = 0; p < most; ++p) {
      const std::uint16_t* values = tile.args.values[p / kPage] + p % kPage * dim + d;
      acc.Add(space.weights[0][0] + p, kChunk, LoadHalves(values),
              LoadHalves(both ? values + 16 : values));
      next.Fetch(p / kPage, d / 2 + p % kPage);
    }
    acc.Store(tile.args.out + tile.at(0) * dim + d, dim, both);
  }
}

using Step = void (*)(const Tile&, std::int64_t, Space&);
constexpr Step kScoresOfOne[kHeadTile + 1] = {nullptr,        ScoresOfOne<1>, ScoresOfOne<2>,
                                              ScoresOfOne<3>, ScoresOfOne<4>, ScoresOfOne<5>,
                                              ScoresOfOne<6>, ScoresOfOne<7>, ScoresOfOne<8>};
constexpr Step kOutputOfOne[kHeadTile + 1] = {nullptr,        OutputOfOne<1>, OutputOfOne<2>,
                                              OutputOfOne<3>, OutputOfOne<4>, OutputOfOne<5>,
                                              OutputOfOne<6>, OutputOfOne<7>, OutputOfOne<8>};

void AttendTile(const Tile& tile, Space& space) {
  const std::int64_t most = tile.visible(tile.rows - 1);
  if (most == 0) return;
  const bool one = tile.rows == 1;
  (one ? kScoresOfOne[tile.heads] : Scores)(tile, most, space);
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    if (tile.visible(r) > 0) Soften(tile, r, space);
  }
  (one ? kOutputOfOne[tile.heads] : Output)(tile, most, space);
}

}  // namespace

void AttentionChunk(const AttentionChunkArgs& args) {
  Space space;
  for (std::int64_t row = 0; row < args.rows; row += kRowTile) {
    const std::int64_t rows = args.rows - row;
    for (std::int64_t head = 0; head < args.heads; head += kHeadTile) {
      const std::int64_t heads = args.heads - head;
      AttendTile({.args = args,
                  .row = row,
                  .rows = rows < kRowTile ? rows : kRowTile,
                  .head = head,
                  .heads = heads < kHeadTile ? heads : kHeadTile},
                 space);
    }
  }
}

void AttentionMerge(float* max, float* sum, float* out, float next_max, float next_sum,
                    const float* next_out, std::int64_t dim) {
  const float largest = *max < next_max ? next_max : *max;
  const __m512 top = _mm512_set1_ps(largest);
  const __m512 a = ExpLanes(_mm512_sub_ps(_mm512_set1_ps(*max), top));
  const __m512 b = ExpLanes(_mm512_sub_ps(_mm512_set1_ps(next_max), top));
  *max = largest;
  *sum = __builtin_fmaf(*sum, _mm512_cvtss_f32(a), next_sum * _mm512_cvtss_f32(b));
  for (std::int64_t d = 0; d < dim; d += 16) {
    const __m512 next = _mm512_mul_ps(_mm512_loadu_ps(next_out + d), b);
    _mm512_storeu_ps(out + d, _mm512_fmadd_ps(_mm512_loadu_ps(out + d), a, next));
  }
}

}  // namespace vivace::VIVACE_ISA
