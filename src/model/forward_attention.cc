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
  float* max;  // [rows][group_heads]
  float* sum;  // [rows][group_heads]
  float* out;  // [rows][group_heads][head_dim]

  Partial(float* memory, std::int64_t rows, const Config& config)
      : max(memory),
        sum(max + rows * config.group_heads()),
        out(sum + rows * config.group_heads()) {}
};

std::int64_t PartialFloats(std::int64_t rows, const Config& config) {
  return rows * config.group_heads() * (config.head_dim + 2);
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
  std::int64_t chunks(std::int64_t row) const {
    return (visible(row) + kChunkPositions - 1) / kChunkPositions;
  }
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

// state += next, of one row and head, number `at` of both.
void Merge(const Pass& pass, const Partial& next, const Partial& state, std::int64_t at) {
  const std::int64_t dim = pass.config().head_dim;
  pass.kernels().attention_merge(state.max + at, state.sum + at, state.out + at * dim, next.max[at],
                                 next.sum[at], next.out + at * dim, dim);
}

// The attended values of one row and head.
void Finish(const Pass& pass, const Tile& tile, std::int64_t row, std::int64_t head,
            const float* sum, const float* weighted) {
  const Config& config = pass.config();
  float* out = pass.space.attended + (tile.batch_row() + row) * config.q_width() +
               (tile.kv_head * config.group_heads() + head) * config.head_dim;
  const float inverse = 1.0F / *sum;
  for (std::int64_t d = 0; d < config.head_dim; ++d) out[d] = weighted[d] * inverse;
}

// All chunks of a tile, one after the other.
void AttendTile(const Pass& pass, const Tile& tile, float* memory) {
  const Config& config = pass.config();
  const std::int64_t heads = config.group_heads();
  const Partial state(memory, tile.rows, config);
  const Partial next(memory + PartialFloats(tile.rows, config), tile.rows, config);
  AttendChunk(pass, tile, 0, state);
  for (std::int64_t chunk = 1; chunk < tile.chunks(tile.rows - 1); ++chunk) {
    AttendChunk(pass, tile, chunk, next);
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      if (tile.chunks(row) <= chunk) continue;
      for (std::int64_t at = row * heads; at < (row + 1) * heads; ++at) {
        Merge(pass, next, state, at);
      }
    }
  }
  for (std::int64_t at = 0; at < tile.rows * heads; ++at) {
    Finish(pass, tile, at / heads, at % heads, state.sum + at, state.out + at * config.head_dim);
  }
}

std::int64_t Tiles(const SequenceSlice& slice) { return (slice.rows + kTileRows - 1) / kTileRows; }

void AttendTiles(const Pass& pass, std::int64_t layer, TeamMember& member) {
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

// One tile of all the slice's rows.
Tile WholeTile(const SequenceSlice& slice, std::int64_t layer, std::int64_t kv_head) {
  return {.slice = slice, .layer = layer, .kv_head = kv_head, .first = 0, .rows = slice.rows};
}

// A long context and few rows: threads share the chunks of a tile, and when all are there,
// merge them in the same order as AttendTile. `chunk_partials` has a place for each.
void AttendChunks(const Pass& pass, std::int64_t layer, TeamMember& member) {
  const Config& config = pass.config();
  const std::int64_t heads = config.group_heads();
  float* place = pass.space.chunk_partials;
  for (const SequenceSlice& slice : pass.batch.slices) {
    const std::int64_t chunks = WholeTile(slice, layer, 0).chunks(slice.rows - 1);
    const std::int64_t size = PartialFloats(slice.rows, config);
    member.ForEachChunk(config.kv_heads * chunks, 2, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t unit = begin; unit < end; ++unit) {
        AttendChunk(pass, WholeTile(slice, layer, unit / chunks), unit % chunks,
                    Partial(place + unit * size, slice.rows, config));
      }
    });
    place += config.kv_heads * chunks * size;
  }
  member.Barrier();
  place = pass.space.chunk_partials;
  for (const SequenceSlice& slice : pass.batch.slices) {
    const std::int64_t chunks = WholeTile(slice, layer, 0).chunks(slice.rows - 1);
    const std::int64_t size = PartialFloats(slice.rows, config);
    const std::int64_t per_row = config.kv_heads * heads;
    member.ForEachChunk(slice.rows * per_row, 1, [&](std::int64_t begin, std::int64_t /*end*/) {
      const std::int64_t row = begin / per_row;
      const std::int64_t kv_head = begin % per_row / heads;
      const std::int64_t at = row * heads + begin % heads;
      const Tile tile = WholeTile(slice, layer, kv_head);
      float* first = place + kv_head * chunks * size;
      const Partial state(first, slice.rows, config);
      for (std::int64_t chunk = 1; chunk < tile.chunks(row); ++chunk) {
        Merge(pass, Partial(first + chunk * size, slice.rows, config), state, at);
      }
      Finish(pass, tile, row, begin % heads, state.sum + at, state.out + at * config.head_dim);
    });
    place += config.kv_heads * chunks * size;
  }
}

// Whether sharing chunks is worth a barrier: there are too few tiles to keep all threads
// busy evenly, and each has several chunks.
bool SharesChunks(const Pass& pass, const TeamMember& member) {
  const Config& config = pass.config();
  if (member.size() == 1) return false;
  std::int64_t units = 0;
  std::int64_t floats = 0;
  std::int64_t most = 0;
  for (const SequenceSlice& slice : pass.batch.slices) {
    if (slice.rows > kTileRows) return false;
    const std::int64_t chunks = WholeTile(slice, 0, 0).chunks(slice.rows - 1);
    units += config.kv_heads;
    floats += config.kv_heads * chunks * PartialFloats(slice.rows, config);
    most = std::max(most, chunks);
  }
  return units < 8 * member.size() && most >= 4 && floats <= Workspace::kChunkPartials;
}

}  // namespace

std::int64_t AttentionPartialFloats(const Config& config) {
  return 2 * PartialFloats(kTileRows, config);
}

void Attend(const Pass& pass, std::int64_t layer, TeamMember& member) {
  SharesChunks(pass, member) ? AttendChunks(pass, layer, member) : AttendTiles(pass, layer, member);
}

}  // namespace vivace
