// Attention of one chunk of 128 positions; see AttentionChunkArgs for the definition.
//
// Rows and heads form one list of queries. Pages are converted to floats once for a batch
// of them, and tiles of up to kTile queries share each load. For scores the lanes are
// positions, for the output they are dimensions: nothing is summed across lanes but the
// weights.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/portable/soften.h"

namespace vivace::VIVACE_ISA {
namespace {

constexpr std::int64_t kPage = 16;
constexpr std::int64_t kMaxDim = 256;
constexpr std::int64_t kTile = 6;  // 12 accumulators, 2 shared values, 1 factor
constexpr std::int64_t kBatch = 4 * kTile;

// 28 KB, within the first-level cache for all but the longest heads.
struct Batch {
  alignas(32) float page[kPage * kMaxDim];
  alignas(32) float weights[kBatch][kChunk];  // scores at first
  const float* q[kBatch];
  float* out[kBatch];
  std::int64_t visible[kBatch] = {};  // not falling
  std::int64_t count = 0;
};

// out[i][0 .. 15] += over s < steps: factors[i][s] * wide[stride * s + 0 .. 15]
template <int kCount>
void Accumulate(const float* const* factors, std::int64_t from, const float* wide,
                std::int64_t stride, std::int64_t steps, float* const* out, std::int64_t to,
                bool fresh) {
  __m256 acc[kCount][2];
  for (int i = 0; i < kCount; ++i) {
    acc[i][0] = acc[i][1] = _mm256_setzero_ps();
    if (!fresh) {
      acc[i][0] = _mm256_loadu_ps(out[i] + to);
      acc[i][1] = _mm256_loadu_ps(out[i] + to + 8);
    }
  }
  for (std::int64_t s = 0; s < steps; ++s) {
    const __m256 low = _mm256_load_ps(wide + stride * s);
    const __m256 high = _mm256_load_ps(wide + stride * s + 8);
    for (int i = 0; i < kCount; ++i) {
      const __m256 factor = _mm256_set1_ps(factors[i][from + s]);
      acc[i][0] = _mm256_fmadd_ps(factor, low, acc[i][0]);
      acc[i][1] = _mm256_fmadd_ps(factor, high, acc[i][1]);
    }
  }
  for (int i = 0; i < kCount; ++i) {
    _mm256_storeu_ps(out[i] + to, acc[i][0]);
    _mm256_storeu_ps(out[i] + to + 8, acc[i][1]);
  }
}

using Accumulator = void (*)(const float* const*, std::int64_t, const float*, std::int64_t,
                             std::int64_t, float* const*, std::int64_t, bool);
constexpr Accumulator kAccumulate[kTile + 1] = {nullptr,       Accumulate<1>, Accumulate<2>,
                                                Accumulate<3>, Accumulate<4>, Accumulate<5>,
                                                Accumulate<6>};

void ConvertPage(const std::uint16_t* page, std::int64_t dim, float* out) {
  for (std::int64_t i = 0; i < kPage * dim; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(page + i));
    _mm256_store_ps(out + i, _mm256_cvtph_ps(halves));
  }
}

std::int64_t Clamp(std::int64_t value, std::int64_t most) {
  return value < 0 ? 0 : value < most ? value : most;
}

// How many of the positions from `first` on, at most a page, a query sees.
std::int64_t SeenOfPage(const Batch& batch, std::int64_t query, std::int64_t first) {
  return Clamp(batch.visible[query] - first, kPage);
}

void Scores(const AttentionChunkArgs& args, std::int64_t first, std::int64_t begin,
            std::int64_t end, Batch& batch) {
  float* out[kTile];
  for (std::int64_t i = begin; i < end; ++i) out[i - begin] = batch.weights[i];
  kAccumulate[end - begin](batch.q + begin, 0, batch.page, kPage, args.dim, out, first, true);
}

// Queries of a tile go together as far as all of them see, since a value that one does
// not see may be infinite; then each by itself.
void Output(const AttentionChunkArgs& args, std::int64_t first, std::int64_t begin,
            std::int64_t end, Batch& batch) {
  const std::int64_t shared = SeenOfPage(batch, begin, first);
  const float* weights[kTile];
  for (std::int64_t i = begin; i < end; ++i) weights[i - begin] = batch.weights[i] + first;
  for (std::int64_t d = 0; d < args.dim; d += kPage) {
    kAccumulate[end - begin](weights, 0, batch.page + d, args.dim, shared, batch.out + begin, d,
                             first == 0);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t rest = SeenOfPage(batch, i, first) - shared;
      if (rest == 0) continue;
      kAccumulate[1](weights + (i - begin), shared, batch.page + args.dim * shared + d, args.dim,
                     rest, batch.out + i, d, false);
    }
  }
}

// Calls body(args, first position, begin, end, batch) for every page that is seen and
// every tile of the queries.
template <class Body>
void ForEachPage(const AttentionChunkArgs& args, const std::uint16_t* const* pages,
                 const Body& body, Batch& batch) {
  const std::int64_t tiles = (batch.count + kTile - 1) / kTile;
  for (std::int64_t first = 0; first < batch.visible[batch.count - 1]; first += kPage) {
    ConvertPage(pages[first / kPage], args.dim, batch.page);
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const std::int64_t begin = batch.count * tile / tiles;
      const std::int64_t end = batch.count * (tile + 1) / tiles;
      if (batch.visible[end - 1] > first) body(args, first, begin, end, batch);
    }
  }
}

}  // namespace

void AttentionChunk(const AttentionChunkArgs& args) {
  Batch batch;
  // Before this one, rows see nothing.
  const std::int64_t first_row = args.visible > 0 ? 0 : 1 - args.visible;
  const std::int64_t queries = args.rows * args.heads;
  for (std::int64_t at = first_row * args.heads; at < queries; at += kBatch) {
    batch.count = queries - at < kBatch ? queries - at : kBatch;
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const std::int64_t row = (at + i) / args.heads;
      const std::int64_t head = (at + i) % args.heads;
      batch.q[i] = args.q + row * args.q_stride + head * args.dim;
      batch.out[i] = args.out + (at + i) * args.dim;
      batch.visible[i] = Clamp(args.visible + row, kChunk);
    }
    ForEachPage(args, args.keys, Scores, batch);
    for (std::int64_t i = 0; i < batch.count; ++i) {
      args.sum[at + i] = Soften(batch.weights[i], batch.visible[i], args.max + at + i);
    }
    ForEachPage(args, args.values, Output, batch);
  }
}

}  // namespace vivace::VIVACE_ISA
