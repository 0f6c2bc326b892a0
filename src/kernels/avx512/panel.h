// A panel: blocks of k of two groups, 32 weight rows, unpacked into the first-level cache
// for the tiles that run over it.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/forms.h"
#include "kernels/kernel_table.h"
#include "kernels/packed_layout.h"
#include "kernels/unit.h"

namespace vivace::VIVACE_ISA {
namespace {

inline Activations RowOf(const Activations& all, std::int64_t row, std::int64_t k) {
  return {.q = all.q + row * k,
          .d = all.d + row * (k / kBlock),
          .sum = all.sum + row * (k / kBlock),
          .half_sum = all.half_sum + row * (k / kBlock) * 2,
          .x = all.x + row * k};
}

// Blocks of k that a panel holds: 32 x 1 KB of lines and their scales.
constexpr std::int64_t kPanelBlocks = 32;

// What a kernel wants of an activation row beside its values, for each of `blocks` blocks: its
// scale in d[block * rows] and what its sums become in prepared[block * rows * kSums].
template <class Type>
void PrepareRow(const Activations& row, std::int64_t blocks, std::int64_t rows, float* d,
                std::int32_t* prepared) {
  std::int32_t part[Type::kSums * kPanelBlocks];
  for (std::int64_t first = 0; first < blocks; first += kPanelBlocks) {
    const std::int64_t count = blocks - first < kPanelBlocks ? blocks - first : kPanelBlocks;
    Type::Prepare(row, first, count, part);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = (first + i) * rows;
      d[at] = row.d[first + i];
      for (int s = 0; s < Type::kSums; ++s) {
        prepared[at * Type::kSums + s] = part[i * Type::kSums + s];
      }
    }
  }
}

// A block of two groups, unpacked. The panel is at the start of the scratch.
template <class Type>
struct PanelBlock {
  __m512i line[8][2];
  typename Type::Scales scales[2];
};

// Where the sums of a tile's first row go, 32 columns.
struct TileOut {
  float* at;
  std::int64_t stride;
  bool first;  // nothing is there yet
  bool both;   // or only 16 columns are wanted
};

[[gnu::always_inline]] inline void LoadRow(const TileOut& out, std::int64_t row, __m512 (&acc)[2]) {
  const float* from = out.at + row * out.stride;
  acc[0] = out.first ? _mm512_setzero_ps() : _mm512_loadu_ps(from);
  acc[1] = out.first || !out.both ? _mm512_setzero_ps() : _mm512_loadu_ps(from + kGroupRows);
}

[[gnu::always_inline]] inline void StoreRow(const TileOut& out, std::int64_t row,
                                            const __m512 (&acc)[2]) {
  float* to = out.at + row * out.stride;
  _mm512_storeu_ps(to, acc[0]);
  if (out.both) _mm512_storeu_ps(to + kGroupRows, acc[1]);
}

// The packed weights that are unpacked next, fetched while tiles are multiplied: one line
// of each group per block.
struct Ahead {
  bool wanted;
  const std::byte* at[2];

  [[gnu::always_inline]] void Fetch(std::int64_t line) const {
    if (!wanted) return;
    _mm_prefetch(reinterpret_cast<const char*>(at[0] + line * kLine), _MM_HINT_T1);
    _mm_prefetch(reinterpret_cast<const char*>(at[1] + line * kLine), _MM_HINT_T1);
  }
};

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

}  // namespace
}  // namespace vivace::VIVACE_ISA
