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

// A tile's activation rows, at constant distances; q stays where it is.
struct TileRows {
  const std::int8_t* q;
  std::int64_t k;  // distance of the rows of q
  alignas(64) float d[kMaxTileRows][kPanelBlocks];
  alignas(64) std::int32_t prepared[kMaxTileRows][2 * kPanelBlocks];
};

// 2 * kRows integer sums (twice that with halves) and 2 * kRows accumulators live in
// registers; each load of weights serves kRows products, each of activations two.
template <class Type, int kRows>
void MultiplyTile(const PanelBlock<Type>* panel, std::int64_t blocks, const TileRows& rows,
                  const Ahead& ahead, const TileOut& out) {
  constexpr int kSums = Type::kSums;
  constexpr int kQuads = 8 / kSums;
  __m512 acc[kRows][2];
  for (int row = 0; row < kRows; ++row) LoadRow(out, row, acc[row]);
  const std::int8_t* q = rows.q;
  for (std::int64_t block = 0; block < blocks; ++block, ++panel, q += kBlock) {
    ahead.Fetch(block);
    __m512i sums[kRows][2][kSums];
    for (int row = 0; row < kRows; ++row) {
      for (int s = 0; s < kSums; ++s) {
        const __m512i start = Type::Start(&rows.prepared[row][block * kSums + s]);
        sums[row][0][s] = start;
        sums[row][1][s] = start;
      }
    }
    for (int j = 0; j < 8; ++j) {
      const __m512i w0 = panel->line[j][0];
      const __m512i w1 = panel->line[j][1];
      for (int row = 0; row < kRows; ++row) {
        const std::int8_t* quad = q + row * rows.k + 4 * j;
        __m512i(&sum)[2][kSums] = sums[row];
        sum[0][j / kQuads] = AddDot(sum[0][j / kQuads], w0, quad);
        sum[1][j / kQuads] = AddDot(sum[1][j / kQuads], w1, quad);
      }
    }
    for (int row = 0; row < kRows; ++row) {
      const __m512 d_a = _mm512_set1_ps(rows.d[row][block]);
      const std::int32_t* prepared = &rows.prepared[row][block * kSums];
      acc[row][0] = Type::Add(acc[row][0], sums[row][0], panel->scales[0], d_a, prepared);
      acc[row][1] = Type::Add(acc[row][1], sums[row][1], panel->scales[1], d_a, prepared);
    }
  }
  for (int row = 0; row < kRows; ++row) StoreRow(out, row, acc[row]);
}

// All activation rows over one panel.
template <class Type>
void MultiplyPanel(const MatmulArgs& args, const PanelBlock<Type>* panel, const Source& source,
                   const Source& next, TileOut out) {
  constexpr int kMaxRows = Type::kSums == 1 ? kMaxTileRows : 4;
  const std::int64_t blocks = source.blocks;
  const std::int64_t tiles = (args.rows + kMaxRows - 1) / kMaxRows;
  float* const first_out = out.at;
  TileRows rows;
  rows.k = args.k;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    // Even shares: with more than kSlicedRows rows none is below kMaxRows - 2.
    const std::int64_t first = args.rows * tile / tiles;
    const std::int64_t count = args.rows * (tile + 1) / tiles - first;
    for (std::int64_t row = 0; row < count; ++row) {
      const Activations from = RowOf(args.activations, first + row, args.k);
      Type::Prepare(from, source.block, blocks, rows.prepared[row]);
      for (std::int64_t b = 0; b < blocks; ++b) rows.d[row][b] = from.d[source.block + b];
    }
    rows.q = args.activations.q + first * args.k + source.block * kBlock;
    out.at = first_out + first * out.stride;
    const Ahead ahead = AheadOf<Type>(next, tile, blocks);
    if (count == kMaxRows) {
      MultiplyTile<Type, kMaxRows>(panel, blocks, rows, ahead, out);
    } else if (count == kMaxRows - 1) {
      MultiplyTile<Type, kMaxRows - 1>(panel, blocks, rows, ahead, out);
    } else {
      MultiplyTile<Type, kMaxRows - 2>(panel, blocks, rows, ahead, out);
    }
  }
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
