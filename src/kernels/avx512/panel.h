// A panel: blocks of k of two groups, 32 weight rows, unpacked into the first-level cache
// for the tiles that run over it.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/forms.h"
#include "kernels/kernel_table.h"
#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

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

// Blocks of k that a panel holds: 32 x 1 KB of lines and their scales.
constexpr std::int64_t kPanelBlocks = 32;

// A block of two groups, unpacked. The panel is at the start of the scratch.
template <class Type>
struct PanelBlock {
  __m512i line[8][2];
  typename Type::Scales scales[2];
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
