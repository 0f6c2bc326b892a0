// Tiles of 32 weight rows x up to 6 activation rows over a panel, in vector registers.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/avx512/lines.h"
#include "kernels/avx512/panel.h"
#include "kernels/kernel_table.h"
#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

constexpr int kMaxTileRows = 6;

// What unpacking a panel costs is earned back by many rows only. On two cores of Zen 4, 17
// rows of Qwen2.5-0.5B took 40 ms by panels and 26 ms by slices, 64 rows 108 and 101 ms, and
// from 128 rows on both were the same.
constexpr std::int64_t kSlicedRows = 96;

// Codes as a panel holds them.
template <class Type>
[[gnu::always_inline]] inline __m512i Operand(__m512i codes) {
  return codes;
}

// Activation rows of a tile.
template <class Type>
constexpr int kMostRows = Type::kSums == 1 ? kMaxTileRows : 4;

// A tile's activation rows: scales and sums at constant distances, q where it is.
template <class Type>
struct TileRows {
  const std::int8_t* q;
  std::int64_t k;                // distance of the rows of q
  const float* d;                // [blocks][kMostRows]
  const std::int32_t* prepared;  // [blocks][kMostRows][kSums]

  [[gnu::always_inline]] void Advance() {
    q += kBlock;
    d += kMostRows<Type>;
    prepared += kMostRows<Type> * Type::kSums;
  }
};

// All activation rows of a product, by tiles of even shares: with more than kSlicedRows rows none
// is below kMostRows - 2.
template <class Type>
class PreparedTiles {
 public:
  // `memory` has room for them and stays as it is between calls.
  PreparedTiles(const MatmulArgs& args, std::byte* memory)
      : args_(args),
        blocks_(args.k / kBlock),
        count_((args.rows + kMostRows<Type> - 1) / kMostRows<Type>),
        d_(reinterpret_cast<float*>(memory)),
        prepared_(reinterpret_cast<std::int32_t*>(d_ + count_ * blocks_ * kMostRows<Type>)) {
    if (args.prepared) return;
    for (std::int64_t tile = 0; tile < count_; ++tile) {
      for (std::int64_t row = First(tile); row < First(tile + 1); ++row) {
        const std::int64_t at = tile * blocks_ * kMostRows<Type> + row - First(tile);
        PrepareRow<Type>(RowOf(args.activations, row, args.k), blocks_, kMostRows<Type>, d_ + at,
                         prepared_ + at * Type::kSums);
      }
    }
  }

  std::int64_t count() const { return count_; }
  // The first activation row of a tile.
  std::int64_t First(std::int64_t tile) const { return args_.rows * tile / count_; }
  // From block `block` on.
  TileRows<Type> Rows(std::int64_t tile, std::int64_t block) const {
    const std::int64_t at = (tile * blocks_ + block) * kMostRows<Type>;
    return {.q = args_.activations.q + First(tile) * args_.k + block * kBlock,
            .k = args_.k,
            .d = d_ + at,
            .prepared = prepared_ + at * Type::kSums};
  }

 private:
  const MatmulArgs& args_;
  std::int64_t blocks_;
  std::int64_t count_;
  float* d_;
  std::int32_t* prepared_;
};

// 2 * kRows integer sums (twice that with halves) and 2 * kRows accumulators live in
// registers; each load of weights serves kRows products, each of activations two.
template <class Type, int kRows>
void MultiplyTile(const PanelBlock<Type>* panel, std::int64_t blocks, TileRows<Type> rows,
                  const Ahead& ahead, const TileOut& out) {
  constexpr int kSums = Type::kSums;
  constexpr int kQuads = 8 / kSums;
  __m512 acc[kRows][2];
  for (int row = 0; row < kRows; ++row) LoadRow(out, row, acc[row]);
  for (std::int64_t block = 0; block < blocks; ++block, ++panel, rows.Advance()) {
    ahead.Fetch(block);
    __m512i sums[kRows][2][kSums];
    for (int row = 0; row < kRows; ++row) {
      for (int s = 0; s < kSums; ++s) {
        const __m512i start = Type::Start(rows.prepared + row * kSums + s);
        sums[row][0][s] = start;
        sums[row][1][s] = start;
      }
    }
    for (int j = 0; j < 8; ++j) {
      const __m512i w0 = panel->line[j][0];
      const __m512i w1 = panel->line[j][1];
      for (int row = 0; row < kRows; ++row) {
        const std::int8_t* quad = rows.q + row * rows.k + 4 * j;
        __m512i(&sum)[2][kSums] = sums[row];
        sum[0][j / kQuads] = AddDot(sum[0][j / kQuads], w0, quad);
        sum[1][j / kQuads] = AddDot(sum[1][j / kQuads], w1, quad);
      }
    }
    for (int row = 0; row < kRows; ++row) {
      const __m512 d_a = _mm512_set1_ps(rows.d[row]);
      const std::int32_t* prepared = rows.prepared + row * kSums;
      acc[row][0] = Type::Add(acc[row][0], sums[row][0], panel->scales[0], d_a, prepared);
      acc[row][1] = Type::Add(acc[row][1], sums[row][1], panel->scales[1], d_a, prepared);
    }
  }
  for (int row = 0; row < kRows; ++row) StoreRow(out, row, acc[row]);
}

// All activation rows over one panel.
template <class Type>
void MultiplyPanel(const PreparedTiles<Type>& tiles, const PanelBlock<Type>* panel,
                   const Source& source, const Source& next, TileOut out) {
  constexpr int kMost = kMostRows<Type>;
  const std::int64_t blocks = source.blocks;
  float* const first_out = out.at;
  for (std::int64_t tile = 0; tile < tiles.count(); ++tile) {
    const std::int64_t first = tiles.First(tile);
    const std::int64_t count = tiles.First(tile + 1) - first;
    const TileRows<Type> rows = tiles.Rows(tile, source.block);
    out.at = first_out + first * out.stride;
    const Ahead ahead = AheadOf<Type>(next, tile, blocks);
    if (count == kMost) {
      MultiplyTile<Type, kMost>(panel, blocks, rows, ahead, out);
    } else if (count == kMost - 1) {
      MultiplyTile<Type, kMost - 1>(panel, blocks, rows, ahead, out);
    } else {
      MultiplyTile<Type, kMost - 2>(panel, blocks, rows, ahead, out);
    }
  }
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
