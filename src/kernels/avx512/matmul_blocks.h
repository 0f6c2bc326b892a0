// Products with block-quantized weights, written once for all types.
//
// A Type is a form (forms.h) plus how one unit of blocks of a group is read:
//   kBlocks, kHeaderBytes, kBodyBytes     of a unit
//   Type(header, body)                    one unit; decodes what its blocks share
//   Lines(block), BlockScales(block)      of block 0 .. kBlocks - 1
// Up to kStreamRows activation rows: weights go from memory through registers, once;
// 16 rows cost about 1.5 times one row, as the time goes into waiting for memory.
// More rows: two groups at a time are unpacked into a panel that stays in the
// first-level cache, and tiles of 32 weight rows x up to 6 activation rows run over it.
// One lane is one weight row and blocks are added in order, so all paths agree bit for bit.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/forms.h"
#include "kernels/avx512/lines.h"
#include "kernels/kernel_table.h"
#include "kernels/packed_layout.h"

namespace vivace::avx512 {
namespace {

// 16 accumulators, a block's 8 lines and a few sums under way fill the 32 registers.
constexpr std::int64_t kStreamRows = 16;

inline Activations RowOf(const Activations& all, std::int64_t row, std::int64_t k) {
  return {.q = all.q + row * k,
          .d = all.d + row * (k / kBlock),
          .sum = all.sum + row * (k / kBlock),
          .half_sum = all.half_sum + row * (k / kBlock) * 2,
          .x = all.x + row * k};
}

// One unit of blocks in a group.
struct Unit {
  const std::byte* header;
  const std::byte* body;
};

// Unit number `unit` of the group at `group`; see packed_layout.h for the shared lines.
template <class Type>
[[gnu::always_inline]] inline Unit UnitAt(const std::byte* group, std::int64_t unit) {
  constexpr std::int64_t kRun = Type::kHeaderBytes < kLine ? kLine / Type::kHeaderBytes : 1;
  const std::byte* run = group + unit / kRun * kRun * (Type::kHeaderBytes + Type::kBodyBytes);
  return {.header = run + unit % kRun * Type::kHeaderBytes,
          .body = run + kRun * Type::kHeaderBytes + unit % kRun * Type::kBodyBytes};
}

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

// Blocks of k that a panel holds: 32 x 1 KB of lines and their scales.
constexpr std::int64_t kPanelBlocks = 32;
constexpr int kMaxTileRows = 6;

// A block of two groups, unpacked. The panel is at the start of the scratch.
template <class Type>
struct PanelBlock {
  __m512i line[8][2];
  typename Type::Scales scales[2];
};

// A tile's activation rows, at constant distances; q stays where it is.
struct TileRows {
  const std::int8_t* q;
  std::int64_t k;  // distance of the rows of q
  alignas(64) float d[kMaxTileRows][kPanelBlocks];
  alignas(64) std::int32_t prepared[kMaxTileRows][2 * kPanelBlocks];
};

struct TileOut {
  float* at;
  std::int64_t stride;
  bool first;  // nothing is there yet
  bool both;   // or only 16 columns are wanted
};

// The packed weights that are unpacked next, fetched while tiles are multiplied: one line
// of each group per block.
struct Ahead {
  bool wanted;
  const std::byte* at[2];
};

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
      for (int j = 0; j < 8; ++j) panel->line[j][half] = lines.quad[j];
      panel->scales[half] = unit.BlockScales(block);
    }
  }
}

// 2 * kRows integer sums (twice that with halves) and 2 * kRows accumulators live in
// registers; each load of weights serves kRows products, each of activations two.
template <class Type, int kRows>
void MultiplyTile(const PanelBlock<Type>* panel, std::int64_t blocks, const TileRows& rows,
                  const Ahead& ahead, const TileOut& out) {
  constexpr int kSums = Type::kSums;
  constexpr int kQuads = 8 / kSums;
  __m512 acc[kRows][2];
  for (int row = 0; row < kRows; ++row) {
    const float* from = out.at + row * out.stride;
    acc[row][0] = out.first ? _mm512_setzero_ps() : _mm512_loadu_ps(from);
    acc[row][1] = out.first || !out.both ? _mm512_setzero_ps() : _mm512_loadu_ps(from + 16);
  }
  const std::int8_t* q = rows.q;
  for (std::int64_t block = 0; block < blocks; ++block, ++panel, q += kBlock) {
    if (ahead.wanted) {
      _mm_prefetch(reinterpret_cast<const char*>(ahead.at[0] + block * kLine), _MM_HINT_T1);
      _mm_prefetch(reinterpret_cast<const char*>(ahead.at[1] + block * kLine), _MM_HINT_T1);
    }
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
  for (int row = 0; row < kRows; ++row) {
    float* to = out.at + row * out.stride;
    _mm512_storeu_ps(to, acc[row][0]);
    if (out.both) _mm512_storeu_ps(to + 16, acc[row][1]);
  }
}

// Where the blocks of a panel lie in the packed weights of two groups.
struct Source {
  const std::byte* group[2];
  std::int64_t block;   // the first one
  std::int64_t blocks;  // 0: there is no such panel
};

// The panel that starts at `block` of `group` and the next one.
inline Source SourceOf(const MatmulArgs& args, std::int64_t group, std::int64_t block) {
  Source source = {.group = {}, .block = block, .blocks = 0};
  if (group >= args.group_end) return source;
  const std::int64_t rest = args.k / kBlock - block;
  source.blocks = rest < kPanelBlocks ? rest : kPanelBlocks;
  for (int half = 0; half < 2; ++half) {
    // A lone last group fills both halves; the second one's result is not stored.
    const std::int64_t from = group + half < args.group_end ? group + half : group;
    source.group[half] = args.weights + from * args.group_bytes;
  }
  return source;
}

// What tile number `tile`, of panels of `blocks` blocks, fetches of `next`.
template <class Type>
Ahead AheadOf(const Source& next, std::int64_t tile, std::int64_t blocks) {
  const std::int64_t unit = next.block / Type::kBlocks;
  const std::int64_t offset = tile * blocks * kLine;
  const std::int64_t unit_bytes = Type::kHeaderBytes + Type::kBodyBytes;
  if (offset >= next.blocks / Type::kBlocks * unit_bytes) return {false, {}};
  return {true,
          {UnitAt<Type>(next.group[0], unit).header + offset,
           UnitAt<Type>(next.group[1], unit).header + offset}};
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
    // Even shares: with more than kStreamRows rows none is below kMaxRows - 2.
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

template <class Type>
void MatmulBlocks(const MatmulArgs& args) {
  args.rows <= kStreamRows ? StreamRows<Type>(args) : TileRowsOverPanels<Type>(args);
}

}  // namespace
}  // namespace vivace::avx512
