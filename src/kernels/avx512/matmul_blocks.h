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
#include "kernels/avx512/unrolled.h"
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

// Activation rows as Stream reads them: block by block, so that rows are at constant distances.
template <int kRows, int kSums>
struct StreamedRows {
  std::int8_t* q;          // [blocks][kRows][32]
  float* d;                // [blocks][kRows]
  std::int32_t* prepared;  // [blocks][kRows][kSums]

  // In `memory`. In this order each q is aligned to its 32 bytes.
  static StreamedRows At(std::byte* memory, std::int64_t k) {
    auto* values = reinterpret_cast<std::int8_t*>(memory);
    auto* scales = reinterpret_cast<float*>(values + kRows * k);
    return {.q = values,
            .d = scales,
            .prepared = reinterpret_cast<std::int32_t*>(scales + kRows * (k / kBlock))};
  }

  [[gnu::always_inline]] void Advance() {
    q += kRows * kBlock;
    d += kRows;
    prepared += kRows * kSums;
  }
};

// acc[r] += the contribution of rows kFirst .. kFirst + kCount - 1 to one block. Products of
// several rows alternate: each waits for the one before it of its own row only.
template <class Type, int kFirst, int kCount, int kRows>
[[gnu::always_inline]] inline void AddRows(const BlockLines& lines,
                                           const typename Type::Scales& scales,
                                           const StreamedRows<kRows, Type::kSums>& rows,
                                           __m512 (&acc)[kRows]) {
  constexpr int kSums = Type::kSums;
  __m512i sums[kCount][kSums];
  Unrolled<kCount * kSums>([&](auto i) __attribute__((always_inline)) {
    sums[i / kSums][i % kSums] = Type::Start(rows.prepared + kFirst * kSums + i);
  });
  Unrolled<8 * kCount>([&](auto i) __attribute__((always_inline)) {
    constexpr int kQuad = i / kCount;
    constexpr int kRow = i % kCount;
    __m512i& sum = sums[kRow][kQuad / (8 / kSums)];
    sum = AddDot(sum, lines.quad[kQuad], rows.q + (kFirst + kRow) * kBlock + 4 * kQuad);
  });
  Unrolled<kCount>([&](auto i) __attribute__((always_inline)) {
    constexpr int kRow = kFirst + i;
    const __m512 d_a = _mm512_set1_ps(rows.d[kRow]);
    acc[kRow] = Type::Add(acc[kRow], sums[i], scales, d_a, rows.prepared + kRow * kSums);
  });
}

template <class Type, int kRows>
[[gnu::always_inline]] inline void AddBlock(const BlockLines& lines,
                                            const typename Type::Scales& scales,
                                            const StreamedRows<kRows, Type::kSums>& rows,
                                            __m512 (&acc)[kRows]) {
  constexpr int kTogether = 4 / Type::kSums;
  Unrolled<kRows / kTogether>([&](auto i) __attribute__((always_inline)) {
    AddRows<Type, i * kTogether, kTogether>(lines, scales, rows, acc);
  });
  constexpr int kRest = kRows % kTogether;
  if constexpr (kRest != 0) {
    AddRows<Type, kRows - kRest, kRest>(lines, scales, rows, acc);
  }
}

template <class Type, int kRows>
void Stream(const MatmulArgs& args, const StreamedRows<kRows, Type::kSums>& activations) {
  constexpr std::int64_t kBodyStep = Type::kBodyBytes / Type::kBlocks;
  const std::int64_t blocks = args.k / kBlock;
  float* out = args.out;
  for (std::int64_t group = args.group_begin; group < args.group_end; ++group, out += kGroupRows) {
    const std::byte* weights = args.weights + group * args.group_bytes;
    __m512 acc[kRows];
    Unrolled<kRows>([&](auto row) { acc[row] = _mm512_setzero_ps(); });
    StreamedRows<kRows, Type::kSums> rows = activations;
    for (std::int64_t index = 0; index < blocks / Type::kBlocks; ++index) {
      const Unit at = UnitAt<Type>(weights, index);
      const Type unit(at.header, at.body);
      if (args.prefetch != 0) Prefetch(at.header + args.prefetch, Type::kHeaderBytes);
      for (int block = 0; block < Type::kBlocks; ++block) {
        if (args.prefetch != 0) Prefetch(at.body + kBodyStep * block + args.prefetch, kBodyStep);
        AddBlock<Type, kRows>(unit.Lines(block), unit.BlockScales(block), rows, acc);
        rows.Advance();
      }
    }
    Unrolled<kRows>([&](auto row) { _mm512_storeu_ps(out + row * args.out_stride, acc[row]); });
  }
}

// Fills what StreamedRows of args.rows rows shows. Not inlined: once is enough for a type.
template <class Type>
[[gnu::noinline]] void PrepareRows(const MatmulArgs& args, std::int8_t* q, float* d,
                                   std::int32_t* prepared) {
  const std::int64_t blocks = args.k / kBlock;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const Activations from = RowOf(args.activations, row, args.k);
    PrepareRow<Type>(from, blocks, args.rows, d + row, prepared + row * Type::kSums);
    for (std::int64_t block = 0; block < blocks; ++block) {
      __builtin_memcpy(q + (block * args.rows + row) * kBlock, from.q + block * kBlock, kBlock);
    }
  }
}

template <class Type, int kRows>
void StreamRows(const MatmulArgs& args) {
  const auto rows = StreamedRows<kRows, Type::kSums>::At(args.scratch, args.k);
  if (!args.prepared) PrepareRows<Type>(args, rows.q, rows.d, rows.prepared);
  Stream<Type, kRows>(args, rows);
}

template <class Type>
void StreamAnyRows(const MatmulArgs& args) {
  using Kernel = void (*)(const MatmulArgs&);
  constexpr Kernel kKernels[kStreamRows] = {
      StreamRows<Type, 1>,  StreamRows<Type, 2>,  StreamRows<Type, 3>,  StreamRows<Type, 4>,
      StreamRows<Type, 5>,  StreamRows<Type, 6>,  StreamRows<Type, 7>,  StreamRows<Type, 8>,
      StreamRows<Type, 9>,  StreamRows<Type, 10>, StreamRows<Type, 11>, StreamRows<Type, 12>,
      StreamRows<Type, 13>, StreamRows<Type, 14>, StreamRows<Type, 15>, StreamRows<Type, 16>};
  kKernels[args.rows - 1](args);
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
  const PreparedTiles<Type> tiles(
      args, args.scratch + kPanelBlocks * static_cast<std::int64_t>(sizeof *panel));
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
    MultiplyPanel<Type>(tiles, panel, source, next, out);
    source = next;
  }
}

// In even shares: the first one brings the weights from memory, the others find them in
// the second-level cache.
template <class Type>
void StreamSlices(const MatmulArgs& args) {
  // What is prepared of a row, in whole lines.
  const std::int64_t row_bytes =
      args.k + (args.k / kBlock * 4 * (1 + Type::kSums) + kLine - 1) / kLine * kLine;
  const std::int64_t slices = (args.rows + kStreamRows - 1) / kStreamRows;
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    const std::int64_t first = args.rows * slice / slices;
    MatmulArgs part = args;
    part.rows = args.rows * (slice + 1) / slices - first;
    part.activations = RowOf(args.activations, first, args.k);
    part.out = args.out + first * args.out_stride;
    part.scratch = args.scratch + first * row_bytes;
    StreamAnyRows<Type>(part);
  }
}

template <class Type>
void MatmulBlocks(const MatmulArgs& args) {
  args.rows <= kSlicedRows ? StreamSlices<Type>(args) : TileRowsOverPanels<Type>(args);
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
