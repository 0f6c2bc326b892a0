// Products with block-quantized weights, written once for all types.
//
// A Type is a form (forms.h of the tier), its Codes (lines.h) and how one unit of blocks
// is read:
//   kBlocks, kHeaderBytes, kBodyBytes     of a unit
//   Type(header, body)                    one unit; decodes what its blocks share
//   Lines(block), BlockScales(block, half)   of block 0 .. kBlocks - 1
// Up to kStreamRows activation rows: weights go from memory through registers.
// More rows: blocks of a group are unpacked into a panel that stays in the first-level
// cache, and tiles of 16 weight rows x up to kTileRows activation rows run over it.
// One lane is one weight row and blocks are added in order, so all paths agree bit for bit.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx2/block_of_row.h"
#include "kernels/avx2/lines.h"
#include "kernels/kernel_table.h"
#include "kernels/packed_layout.h"
#include "kernels/unit.h"

#if defined(__AVXVNNI__) || defined(VIVACE_EMULATED)
#include "kernels/avxvnni/dot_block.h"
#else
#include "kernels/avx2/dot_block.h"
#endif

namespace vivace::VIVACE_ISA {
namespace {

constexpr std::int64_t kStreamRows = 4;
constexpr std::int64_t kTileRows = 4;      // 8 sums, 2 lines and a quad in 16 registers
constexpr std::int64_t kPanelBlocks = 16;  // 12 KB at most

// A block, unpacked.
template <class Type>
struct PanelBlock {
  __m256i codes[8][kHalves];
  typename Type::Scales scales[kHalves];

  [[gnu::always_inline]] __m256i Quad(int quad, int half) const { return codes[quad][half]; }
  [[gnu::always_inline]] const typename Type::Scales& ScalesOf(int half) const {
    return scales[half];
  }
};

// A block that is unpacked while it is used.
template <class Type>
struct PackedBlock {
  const std::byte* lines;
  typename Type::Scales scales[kHalves];

  [[gnu::always_inline]] __m256i Quad(int quad, int half) const {
    return Type::Operand(Type::Codes::Quad(lines, quad, half));
  }
  [[gnu::always_inline]] const typename Type::Scales& ScalesOf(int half) const {
    return scales[half];
  }
};

// acc += the contribution of one block to kRows activation rows.
template <class Type, int kRows, class Block>
[[gnu::always_inline]] inline void AddBlock(const Block& block, const BlockOfRow& first,
                                            std::int64_t k, __m256 (&acc)[kRows][kHalves]) {
  typename Type::Dot dots[kRows][kHalves];
  DotBlock<Type, kRows>(block, first, k, dots);
  for (int row = 0; row < kRows; ++row) {
    const BlockOfRow a = RowAfter(first, row, k);
    const __m256 d_a = _mm256_set1_ps(*a.d);
    for (int half = 0; half < kHalves; ++half) {
      acc[row][half] = Type::Add(acc[row][half], dots[row][half], block.ScalesOf(half), d_a, a);
    }
  }
}

inline BlockOfRow BlockAt(const MatmulArgs& args, std::int64_t row, std::int64_t block) {
  const std::int64_t at = row * (args.k / kBlock) + block;
  const Activations& a = args.activations;
  return {
      .q = a.q + at * kBlock, .d = a.d + at, .sum = a.sum + at, .half_sum = a.half_sum + 2 * at};
}

template <int kRows>
void StoreRows(const __m256 (&acc)[kRows][kHalves], float* out, std::int64_t stride) {
  for (int row = 0; row < kRows; ++row) {
    for (int half = 0; half < kHalves; ++half) {
      _mm256_storeu_ps(out + row * stride + kHalfRows * half, acc[row][half]);
    }
  }
}

template <class Type, int kRows>
void Stream(const MatmulArgs& args) {
  constexpr std::int64_t kBodyStep = Type::kBodyBytes / Type::kBlocks;
  const std::int64_t blocks = args.k / kBlock;
  for (std::int64_t group = args.group_begin; group < args.group_end; ++group) {
    const std::byte* weights = args.weights + group * args.group_bytes;
    __m256 acc[kRows][kHalves];
    for (auto& row : acc) row[0] = row[1] = _mm256_setzero_ps();
    BlockOfRow a = BlockAt(args, 0, 0);
    for (std::int64_t index = 0; index < blocks / Type::kBlocks; ++index) {
      const Unit at = UnitAt<Type>(weights, index);
      const Type unit(at.header, at.body);
      if (args.prefetch != 0) Prefetch(at.header + args.prefetch, Type::kHeaderBytes);
      for (int block = 0; block < Type::kBlocks; ++block, a = Next(a)) {
        if (args.prefetch != 0) Prefetch(at.body + kBodyStep * block + args.prefetch, kBodyStep);
        const PackedBlock<Type> packed = {
            .lines = unit.Lines(block),
            .scales = {unit.BlockScales(block, 0), unit.BlockScales(block, 1)}};
        AddBlock<Type, kRows>(packed, a, args.k, acc);
      }
    }
    StoreRows(acc, args.out + (group - args.group_begin) * kGroupRows, args.out_stride);
  }
}

// Unpacks the blocks [first, first + blocks), whole units, of a group into the panel.
template <class Type>
void Unpack(const std::byte* group, std::int64_t first, std::int64_t blocks,
            PanelBlock<Type>* panel) {
  for (std::int64_t index = first / Type::kBlocks; index < (first + blocks) / Type::kBlocks;
       ++index) {
    const Unit at = UnitAt<Type>(group, index);
    const Type unit(at.header, at.body);
    for (int block = 0; block < Type::kBlocks; ++block, ++panel) {
#pragma GCC unroll 8
      for (int quad = 0; quad < 8; ++quad) {
        for (int half = 0; half < kHalves; ++half) {
          panel->codes[quad][half] =
              Type::Operand(Type::Codes::Quad(unit.Lines(block), quad, half));
        }
      }
      for (int half = 0; half < kHalves; ++half) {
        panel->scales[half] = unit.BlockScales(block, half);
      }
    }
  }
}

// Activation rows over one panel.
struct Tile {
  BlockOfRow a;  // the first row's first block
  std::int64_t k;
  std::int64_t blocks;
  float* out;
  std::int64_t out_stride;
  bool first;  // nothing is in `out` yet
  // Fetched while computing, some bytes per block: the weights of the next panel.
  const std::byte* ahead;
  std::int64_t ahead_bytes;
};

template <class Type, int kRows>
void MultiplyTile(const PanelBlock<Type>* panel, const Tile& tile) {
  __m256 acc[kRows][kHalves];
  for (int row = 0; row < kRows; ++row) {
    const float* from = tile.out + row * tile.out_stride;
    for (int half = 0; half < kHalves; ++half) {
      acc[row][half] = _mm256_setzero_ps();
      if (!tile.first) acc[row][half] = _mm256_loadu_ps(from + kHalfRows * half);
    }
  }
  BlockOfRow a = tile.a;
  const std::byte* ahead = tile.ahead;
  for (std::int64_t block = 0; block < tile.blocks; ++block, a = Next(a)) {
    Prefetch(ahead, tile.ahead_bytes);
    ahead += tile.ahead_bytes;
    AddBlock<Type, kRows>(panel[block], a, tile.k, acc);
  }
  StoreRows(acc, tile.out, tile.out_stride);
}

// All activation rows over a panel; `tile` describes the first of them.
template <class Type>
void MultiplyPanel(const PanelBlock<Type>* panel, const MatmulArgs& args, std::int64_t block,
                   Tile tile) {
  float* const out = tile.out;
  const std::int64_t tiles = (args.rows + kTileRows - 1) / kTileRows;
  for (std::int64_t i = 0; i < tiles; ++i) {
    // Even shares: with more than kStreamRows rows none has a single one.
    const std::int64_t first = args.rows * i / tiles;
    const std::int64_t count = args.rows * (i + 1) / tiles - first;
    tile.a = BlockAt(args, first, block);
    tile.out = out + first * args.out_stride;
    if (count == kTileRows) {
      MultiplyTile<Type, kTileRows>(panel, tile);
    } else if (count == kTileRows - 1) {
      MultiplyTile<Type, kTileRows - 1>(panel, tile);
    } else {
      MultiplyTile<Type, kTileRows - 2>(panel, tile);
    }
    tile.ahead_bytes = 0;
  }
}

template <class Type>
void TileRowsOverPanels(const MatmulArgs& args) {
  const std::int64_t all_blocks = args.k / kBlock;
  auto* panel = reinterpret_cast<PanelBlock<Type>*>(args.scratch);
  for (std::int64_t group = args.group_begin; group < args.group_end; ++group) {
    const std::byte* weights = args.weights + group * args.group_bytes;
    for (std::int64_t block = 0; block < all_blocks; block += kPanelBlocks) {
      const std::int64_t rest = all_blocks - block;
      const std::int64_t blocks = rest < kPanelBlocks ? rest : kPanelBlocks;
      Unpack<Type>(weights, block, blocks, panel);
      MultiplyPanel<Type>(panel, args, block,
                          {.a = {},
                           .k = args.k,
                           .blocks = blocks,
                           .out = args.out + (group - args.group_begin) * kGroupRows,
                           .out_stride = args.out_stride,
                           .first = block == 0,
                           .ahead = UnitAt<Type>(weights, (block + blocks) / Type::kBlocks).header,
                           .ahead_bytes = Type::kBodyBytes / Type::kBlocks});
    }
  }
}

template <class Type>
void MatmulBlocks(const MatmulArgs& args) {
  switch (args.rows) {
    case 1:
      return Stream<Type, 1>(args);
    case 2:
      return Stream<Type, 2>(args);
    case 3:
      return Stream<Type, 3>(args);
    case kStreamRows:
      return Stream<Type, kStreamRows>(args);
    default:
      return TileRowsOverPanels<Type>(args);
  }
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
