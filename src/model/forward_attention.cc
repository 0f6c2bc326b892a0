#include "model/forward_attention.h"

#include <algorithm>
#include <array>

#include "model/pass.h"

namespace vivace {
namespace {

constexpr std::int64_t kTileRows = 8;          // query rows that share each load of keys and values
constexpr std::int64_t kChunkPositions = 128;  // fixed: part of the definition of the result
constexpr std::int64_t kChunkPages = kChunkPositions / kPagePositions;

// The state of a softmax over some positions, for a tile of query rows.
struct Partial {
  float* max;  // [kTileRows][group_heads]
  float* sum;  // [kTileRows][group_heads]
  float* out;  // [kTileRows][group_heads][head_dim]

  Partial(float* memory, const Config& config)
      : max(memory),
        sum(max + kTileRows * config.group_heads()),
        out(sum + kTileRows * config.group_heads()) {}
};

std::int64_t PartialFloats(const Config& config) {
  return kTileRows * config.group_heads() * (config.head_dim + 2);
}

struct Tile {
  const SequenceSlice& slice;
  std::int64_t layer;
  std::int64_t kv_head;
  std::int64_t first;  // row within the slice
  std::int64_t rows;

  std::int64_t batch_row() const { return slice.first_row + first; }
  // Positions that query row `row` of the tile sees: all up to its own.
  std::int64_t visible(std::int64_t row) const { return slice.position + first + row + 1; }
};

void AttendChunk(const Pass& pass, const Tile& tile, std::int64_t chunk, const Partial& out) {
  const Config& config = pass.config();
  const PageShape& shape = tile.slice.kv->shape();
  const auto pages = tile.slice.kv->pages();
  // Those of the chunk and, to be fetched meanwhile, of the next one.
  std::array<const std::uint16_t*, 2 * kChunkPages> keys = {};
  std::array<const std::uint16_t*, 2 * kChunkPages> values = {};
  const std::int64_t first_page = chunk * kChunkPages;
  const std::int64_t count =
      std::min(2 * kChunkPages, static_cast<std::int64_t>(pages.size()) - first_page);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint16_t* page = pages[static_cast<std::size_t>(first_page + i)];
    keys[static_cast<std::size_t>(i)] = page + shape.key_offset(tile.layer, tile.kv_head);
    values[static_cast<std::size_t>(i)] = page + shape.value_offset(tile.layer, tile.kv_head);
  }
  const std::int64_t head = tile.kv_head * config.group_heads();
  pass.kernels().attention_chunk(
      {.q = pass.space.q + tile.batch_row() * config.q_width() + head * config.head_dim,
       .q_stride = config.q_width(),
       .rows = tile.rows,
       .heads = config.group_heads(),
       .dim = config.head_dim,
       .keys = keys.data(),
       .values = values.data(),
       .next_pages = std::max(std::int64_t{0}, count - kChunkPages),
       .visible = tile.visible(0) - chunk * kChunkPositions,
       .max = out.max,
       .sum = out.sum,
       .out = out.out});
}

void Merge(const Pass& pass, const Tile& tile, std::int64_t chunk, const Partial& next,
           const Partial& state) {
  const Config& config = pass.config();
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    if (tile.visible(row) <= chunk * kChunkPositions) continue;
    for (std::int64_t head = 0; head < config.group_heads(); ++head) {
      const std::int64_t at = row * config.group_heads() + head;
      pass.kernels().attention_merge(state.max + at, state.sum + at,
                                     state.out + at * config.head_dim, next.max[at], next.sum[at],
                                     next.out + at * config.head_dim, config.head_dim);
    }
  }
}

void Normalize(const Pass& pass, const Tile& tile, const Partial& state) {
  const Config& config = pass.config();
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    float* out = pass.space.attended + (tile.batch_row() + row) * config.q_width() +
                 tile.kv_head * config.group_heads() * config.head_dim;
    for (std::int64_t head = 0; head < config.group_heads(); ++head) {
      const std::int64_t at = row * config.group_heads() + head;
      const float inverse = 1.0F / state.sum[at];
      for (std::int64_t d = 0; d < config.head_dim; ++d) {
        out[head * config.head_dim + d] = state.out[at * config.head_dim + d] * inverse;
      }
    }
  }
}

void AttendTile(const Pass& pass, const Tile& tile, float* memory) {
  const Partial state(memory, pass.config());
  const Partial next(memory + PartialFloats(pass.config()), pass.config());
  AttendChunk(pass, tile, 0, state);
  const std::int64_t visible = tile.visible(tile.rows - 1);
  for (std::int64_t chunk = 1; chunk * kChunkPositions < visible; ++chunk) {
    AttendChunk(pass, tile, chunk, next);
    Merge(pass, tile, chunk, next, state);
  }
  Normalize(pass, tile, state);
}

std::int64_t Tiles(const SequenceSlice& slice) { return (slice.rows + kTileRows - 1) / kTileRows; }

}  // namespace

std::int64_t AttentionPartialFloats(const Config& config) { return 2 * PartialFloats(config); }

void Attend(const Pass& pass, std::int64_t layer, TeamMember& member) {
  const std::int64_t kv_heads = pass.config().kv_heads;
  std::int64_t units = 0;
  for (const SequenceSlice& slice : pass.batch.slices) units += kv_heads * Tiles(slice);
  member.ForEachChunk(units, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::int64_t rest = unit;
      auto slice = pass.batch.slices.begin();
      for (; rest >= kv_heads * Tiles(*slice); ++slice) rest -= kv_heads * Tiles(*slice);
      const std::int64_t first = rest / kv_heads * kTileRows;
      const Tile tile = {.slice = *slice,
                         .layer = layer,
                         .kv_head = rest % kv_heads,
                         .first = first,
                         .rows = std::min(kTileRows, slice->rows - first)};
      AttendTile(pass, tile, pass.thread(member).partial);
    }
  });
}

}  // namespace vivace
