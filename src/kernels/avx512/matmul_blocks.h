// Products with block-quantized weights, written once for all types.
//
// A Type is a form (forms.h) plus how one unit of blocks of a group is read:
//   kBlocks, kHeaderBytes, kBodyBytes     of a unit
//   Type(header, body)                    one unit; decodes what its blocks share
//   Lines(block), BlockScales(block)      of block 0 .. kBlocks - 1
// Up to kStreamRows activation rows: weights go from memory through registers, once;
// 16 rows cost about 1.5 times one row, as the time goes into waiting for memory. Up to
// kSlicedRows: the same in slices. More rows: two groups at a time are unpacked into a panel that
// stays in the first-level cache, and tiles run over it (multiply_panel.h of the tier). One lane is
// one weight row and blocks are added in order, so all paths agree bit for bit.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/lines.h"
#include "kernels/avx512/panel.h"
#include "kernels/kernel_table.h"
#include "kernels/packed_layout.h"

#if defined(__AMX_INT8__) || defined(VIVACE_EMULATED)
#include "kernels/amx/multiply_panel.h"
#else
#include "kernels/avx512/multiply_panel.h"
#endif

namespace vivace::VIVACE_ISA {
namespace {

// 16 accumulators, a block's 8 lines and a few sums under way fill the 32 registers.
constexpr std::int64_t kStreamRows = 16;

// acc[r] += the block's contribution, for kRows rows whose q are k apart and whose d
// and prepared values are those of consecutive rows of `blocks` blocks.
template <class Type, int kRows>
[[gnu::always_inline]] inline void AddBlock(const BlockLines& lines,
                                            const typename Type::Scales& scales,
                                            const std::int8_t* q, std::int64_t k, const float* d,
                                            const std::int32_t* prepared, __m512 (&acc)[kRows]) {
  constexpr int kSums = Type::kSums;
  constexpr int kQuads = 8 / kSums;  // per sum
  const std::int64_t blocks = k / kBlock;
  for (int row = 0; row < kRows; ++row) {
    const std::int32_t* row_prepared = prepared + row * blocks * kSums;
    __m512i sums[kSums];
    for (int s = 0; s < kSums; ++s) {
      sums[s] = Type::Start(row_prepared + s);
      for (int j = kQuads * s; j < kQuads * (s + 1); ++j) {
        sums[s] = AddDot(sums[s], lines.quad[j], q + row * k + 4 * j);
      }
    }
    const __m512 d_a = _mm512_set1_ps(d[row * blocks]);
    acc[row] = Type::Add(acc[row], sums, scales, d_a, row_prepared);
  }
}

// `prepared` is [kRows][kSums * blocks].
template <class Type, int kRows>
void Stream(const MatmulArgs& args, const std::int32_t* prepared) {
  constexpr std::int64_t kBodyStep = Type::kBodyBytes / Type::kBlocks;
  const std::int64_t k = args.k;
  const std::int64_t blocks = k / kBlock;
  float* out = args.out;
  for (std::int64_t group = args.group_begin; group < args.group_end; ++group, out += kGroupRows) {
    const std::byte* weights = args.weights + group * args.group_bytes;
    __m512 acc[kRows];
    for (int row = 0; row < kRows; ++row) acc[row] = _mm512_setzero_ps();
    const std::int8_t* q = args.activations.q;
    const float* d = args.activations.d;
    const std::int32_t* starts = prepared;
    for (std::int64_t index = 0; index < blocks / Type::kBlocks; ++index) {
      const Unit at = UnitAt<Type>(weights, index);
      const Type unit(at.header, at.body);
      if (args.prefetch != 0) Prefetch(at.header + args.prefetch, Type::kHeaderBytes);
      for (int block = 0; block < Type::kBlocks; ++block) {
        if (args.prefetch != 0) Prefetch(at.body + kBodyStep * block + args.prefetch, kBodyStep);
        AddBlock<Type, kRows>(unit.Lines(block), unit.BlockScales(block), q, k, d, starts, acc);
        q += kBlock;
        ++d;
        starts += Type::kSums;
      }
    }
    for (int row = 0; row < kRows; ++row) {
      _mm512_storeu_ps(out + row * args.out_stride, acc[row]);
    }
  }
}

template <class Type>
void StreamRows(const MatmulArgs& args) {
  const std::int64_t blocks = args.k / kBlock;
  auto* prepared = reinterpret_cast<std::int32_t*>(args.scratch);
  for (std::int64_t row = 0; row < args.rows; ++row) {
    Type::Prepare(RowOf(args.activations, row, args.k), 0, blocks,
                  prepared + row * blocks * Type::kSums);
  }
  using Kernel = void (*)(const MatmulArgs&, const std::int32_t*);
  constexpr Kernel kKernels[kStreamRows] = {
      Stream<Type, 1>,  Stream<Type, 2>,  Stream<Type, 3>,  Stream<Type, 4>,
      Stream<Type, 5>,  Stream<Type, 6>,  Stream<Type, 7>,  Stream<Type, 8>,
      Stream<Type, 9>,  Stream<Type, 10>, Stream<Type, 11>, Stream<Type, 12>,
      Stream<Type, 13>, Stream<Type, 14>, Stream<Type, 15>, Stream<Type, 16>};
  kKernels[args.rows - 1](args, prepared);
}

// Blocks [first, first + blocks), whole units, of the group at `group`.
template <class Type>
void UnpackGroup(const std::byte* group, std::int64_t first, std::int64_t blocks, int half,
                 PanelBlock<Type>* panel) {
  for (std::int64_t index = first / Type::kBlocks; index < (first + blocks) / Type::kBlocks;
       ++index) {
    const Unit at = UnitAt<Type>(group, index);
    const Type unit(at.header, at.body);
    for (int block = 0; block < Type::kBlocks; ++block, ++panel) {
      const BlockLines lines = unit.Lines(block);
      for (int j = 0; j < 8; ++j) panel->line[j][half] = Operand<Type>(lines.quad[j]);
      panel->scales[half] = unit.BlockScales(block);
    }
  }
}

template <class Type>
void TileRowsOverPanels(const MatmulArgs& args) {
  auto* panel = reinterpret_cast<PanelBlock<Type>*>(args.scratch);
  std::int64_t group = args.group_begin;
  Source source = SourceOf(args, group, 0);
  while (source.blocks > 0) {
    for (int half = 0; half < 2; ++half) {
      UnpackGroup<Type>(source.group[half], source.block, source.blocks, half, panel);
    }
    const TileOut out = {.at = args.out + (group - args.group_begin) * kGroupRows,
                         .stride = args.out_stride,
                         .first = source.block == 0,
                         .both = group + 1 < args.group_end};
    const std::int64_t end = source.block + source.blocks;
    const bool last = end == args.k / kBlock;
    if (last) group += 2;
    const Source next = SourceOf(args, group, last ? 0 : end);
    MultiplyPanel<Type>(args, panel, source, next, out);
    source = next;
  }
}

// In even shares: the first one brings the weights from memory, the others find them in
// the second-level cache.
template <class Type>
void StreamSlices(const MatmulArgs& args) {
  const std::int64_t slices = (args.rows + kStreamRows - 1) / kStreamRows;
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    const std::int64_t first = args.rows * slice / slices;
    MatmulArgs part = args;
    part.rows = args.rows * (slice + 1) / slices - first;
    part.activations = RowOf(args.activations, first, args.k);
    part.out = args.out + first * args.out_stride;
    StreamRows<Type>(part);
  }
}

template <class Type>
void MatmulBlocks(const MatmulArgs& args) {
  args.rows <= kSlicedRows ? StreamSlices<Type>(args) : TileRowsOverPanels<Type>(args);
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
