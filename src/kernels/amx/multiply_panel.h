// Tiles of 32 weight rows x 16 activation rows over a panel, in the tile registers of AMX.
//
// A tile instruction could add up 64 values of k, but a sum ends with its block of 32 (or
// half of one): after that it is scaled and added up as floats, in the order of blocks. So a
// step is two depths of 32 (or 16), four products whose sums go through memory to vectors.
// That is about 3 float operations for 512 products, a third of what vectors alone need.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/amx/tiles.h"
#include "kernels/avx512/lines.h"
#include "kernels/avx512/panel.h"
#include "kernels/kernel_table.h"
#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

// Tiles beat what fits into registers (matmul_blocks.h) as soon as there are more rows.
constexpr std::int64_t kSlicedRows = 16;

// Codes as a panel holds them: signed, so that sums need no correction.
template <class Type>
[[gnu::always_inline]] inline __m512i Operand(__m512i codes) {
  return _mm512_sub_epi8(codes, _mm512_set1_epi8(static_cast<char>(Type::kCodeOffset)));
}

constexpr int kStepDepths = 2;
template <class Type>
constexpr int kDepth = kBlock / Type::kSums;
template <class Type>
constexpr int kStepBlocks = kStepDepths / Type::kSums;

// What a step leaves for the vectors.
struct StepSums {
  alignas(64) std::int32_t at[2][kStepDepths][kTileRows][kTileLanes];  // first by group
};

// What 16 activation rows have beside their codes.
struct RowValues {
  float d[kTileRows][kPanelBlocks];
  alignas(64) std::int32_t prepared[kTileRows][2 * kPanelBlocks];
};

// The sums of group kHalf at depth number kPart of a step.
template <class Type, int kHalf, int kPart>
[[gnu::always_inline]] inline void MultiplyPart(Tiles<kDepth<Type>>& tiles,
                                                const PanelBlock<Type>* panel, StepSums& sums) {
  constexpr int kSums = 2 * kHalf + kPart;
  constexpr int kLeft = 4 + kPart;
  constexpr int kRight = 6 + kPart;
  constexpr int kFirstLine = kDepth<Type> / 4 * kPart;
  const auto& lines = panel[kFirstLine / 8].line;
  tiles.template Zero<kSums>();
  tiles.template Load<kRight>(&lines[kFirstLine % 8][kHalf], sizeof lines[0]);
  tiles.template AddProduct<kSums, kLeft, kRight>();
  tiles.template Store<kSums>(sums.at[kHalf][kPart]);
}

// The integer sums of a step: of activations from `q` on, rows k apart.
template <class Type>
[[gnu::always_inline]] inline void MultiplyStep(Tiles<kDepth<Type>>& tiles,
                                                const PanelBlock<Type>* panel, const std::int8_t* q,
                                                std::int64_t k, StepSums& sums) {
  tiles.template Load<4>(q, k);
  tiles.template Load<5>(q + kDepth<Type>, k);
  MultiplyPart<Type, 0, 0>(tiles, panel, sums);
  MultiplyPart<Type, 0, 1>(tiles, panel, sums);
  MultiplyPart<Type, 1, 0>(tiles, panel, sums);
  MultiplyPart<Type, 1, 1>(tiles, panel, sums);
}

// acc[row] += what a step that starts at `block` contributes, for rows from `first` on.
template <class Type>
[[gnu::always_inline]] inline void AddStep(const StepSums& sums, const PanelBlock<Type>* panel,
                                           const RowValues& values, std::int64_t block, int first,
                                           __m512 (&acc)[kTileRows][2]) {
  constexpr int kSums = Type::kSums;
  typename Type::Scales scales[kStepBlocks<Type>][2];
  for (int b = 0; b < kStepBlocks<Type>; ++b) {
    for (int half = 0; half < 2; ++half) scales[b][half] = panel[b].scales[half];
  }
  for (int row = first; row < kTileRows; ++row) {
    for (int b = 0; b < kStepBlocks<Type>; ++b) {
      const __m512 d_a = _mm512_set1_ps(values.d[row][block + b]);
      const std::int32_t* prepared = &values.prepared[row][(block + b) * kSums];
      for (int half = 0; half < 2; ++half) {
        __m512i of_block[kSums];
        for (int s = 0; s < kSums; ++s) {
          of_block[s] = _mm512_load_si512(sums.at[half][b * kSums + s][row]);
        }
        acc[row][half] = Type::Add(acc[row][half], of_block, scales[b][half], d_a, prepared);
      }
    }
  }
}

// 16 activation rows, whose codes start at `q`; those before `first` are left as they are.
// The next step's products are under way while this one's sums are added.
template <class Type>
void MultiplyTile(Tiles<kDepth<Type>>& tiles, const PanelBlock<Type>* panel, std::int64_t blocks,
                  const std::int8_t* q, std::int64_t k, const RowValues& values, int first,
                  const Ahead& ahead, const TileOut& out) {
  __m512 acc[kTileRows][2];
  for (int row = first; row < kTileRows; ++row) LoadRow(out, row, acc[row]);
  StepSums sums[2];
  MultiplyStep(tiles, panel, q, k, sums[0]);
  int current = 0;
  for (std::int64_t block = 0; block < blocks; block += kStepBlocks<Type>) {
    const std::int64_t next = block + kStepBlocks<Type>;
    if (next < blocks) MultiplyStep(tiles, panel + next, q + next * kBlock, k, sums[1 - current]);
    for (std::int64_t line = block; line < next; ++line) ahead.Fetch(line);
    AddStep(sums[current], panel + block, values, block, first, acc);
    current = 1 - current;
  }
  for (int row = first; row < kTileRows; ++row) StoreRow(out, row, acc[row]);
}

// The activation rows of a product; their scales and sums are gathered panel by panel.
template <class Type>
struct PreparedTiles {
  PreparedTiles(const MatmulArgs& all, std::byte* /*memory*/) : args(all) {}
  const MatmulArgs& args;
};

// All activation rows, more than 16, over one panel. The last tile begins early enough to
// have 16 rows; those that the one before it did are multiplied again and dropped.
template <class Type>
void MultiplyPanel(const PreparedTiles<Type>& prepared, const PanelBlock<Type>* panel,
                   const Source& source, const Source& next, TileOut out) {
  const MatmulArgs& args = prepared.args;
  // Tiles are taken and given back within a call: a kernel does not know its thread.
  Tiles<kDepth<Type>> tiles;
  const std::int64_t blocks = source.blocks;
  float* const first_out = out.at;
  RowValues values;
  for (std::int64_t row = 0; row < args.rows; row += kTileRows) {
    const std::int64_t begin = row < args.rows - kTileRows ? row : args.rows - kTileRows;
    const auto first = static_cast<int>(row - begin);
    for (int i = first; i < kTileRows; ++i) {
      const Activations from = RowOf(args.activations, begin + i, args.k);
      Type::Prepare(from, source.block, blocks, values.prepared[i]);
      for (std::int64_t b = 0; b < blocks; ++b) values.d[i][b] = from.d[source.block + b];
    }
    out.at = first_out + begin * out.stride;
    MultiplyTile<Type>(tiles, panel, blocks,
                       args.activations.q + begin * args.k + source.block * kBlock, args.k, values,
                       first, AheadOf<Type>(next, row / kTileRows, blocks), out);
  }
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
