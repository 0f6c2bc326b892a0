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

// state += next, of one row and head: number `from` of next and `to` of state.
void Merge(const Pass& pass, const Partial& next, std::int64_t from, const Partial& state,
           std::int64_t to) {
  const std::int64_t dim = pass.config().head_dim;
  pass.kernels().attention_merge(state.max + to, state.sum + to, state.out + to * dim,
                                 next.max[from], next.sum[from], next.out + from * dim, dim);
}

// Number `from` to the first place of `to`.
void CopyHead(const Partial& all, std::int64_t from, const Partial& to, std::int64_t dim) {
  to.max[0] = all.max[from];
  to.sum[0] = all.sum[from];
  std::copy_n(all.out + from * dim, dim, to.out);
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

// The state after all chunks of a tile, one after the other, to `memory`.
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
        Merge(pass, next, at, state, at);
      }
    }
  }
}

void FinishTile(const Pass& pass, const Tile& tile, float* memory) {
  const Config& config = pass.config();
  const std::int64_t heads = config.group_heads();
  const Partial state(memory, tile.rows, config);
  for (std::int64_t at = 0; at < tile.rows * heads; ++at) {
    Finish(pass, tile, at / heads, at % heads, state.sum + at, state.out + at * config.head_dim);
  }
}

std::int64_t Tiles(const SequenceSlice& slice) { return (slice.rows + kTileRows - 1) / kTileRows; }

Tile TileOf(const Pass& pass, std::int64_t layer, std::int64_t unit) {
  const std::int64_t kv_heads = pass.config().kv_heads;
  auto slice = pass.batch.slices.begin();
  for (; unit >= kv_heads * Tiles(*slice); ++slice) unit -= kv_heads * Tiles(*slice);
  const std::int64_t first = unit / kv_heads * kTileRows;
  return {.slice = *slice,
          .layer = layer,
          .kv_head = unit % kv_heads,
          .first = first,
          .rows = std::min(kTileRows, slice->rows - first)};
}

void AttendTiles(const Pass& pass, std::int64_t layer, TeamMember& member) {
  float* memory = pass.thread(member).partial;
  std::int64_t units = 0;
  for (const SequenceSlice& slice : pass.batch.slices) {
    units += pass.config().kv_heads * Tiles(slice);
  }
  member.Phase(
      pass.Pieces(units, 1), [] {},
      [&](std::int64_t unit, std::int64_t /*end*/) {
        AttendTile(pass, TileOf(pass, layer, unit), memory);
      },
      [&](std::int64_t unit, std::int64_t /*end*/) {
        FinishTile(pass, TileOf(pass, layer, unit), memory);
      });
}

// One tile of all the slice's rows.
Tile WholeTile(const SequenceSlice& slice, std::int64_t layer, std::int64_t kv_head) {
  return {.slice = slice, .layer = layer, .kv_head = kv_head, .first = 0, .rows = slice.rows};
}

// A slice whose chunks are shared, and where its partial states are: [kv_heads, chunks].
struct SharedSlice {
  const SequenceSlice& slice;
  std::int64_t chunks;
  std::int64_t size;  // floats of a partial state
  float* place;
  std::int64_t index;  // what remains of the index that was looked for
};

// The slice of unit `index`, of `units(slice, chunks)` in each.
template <class Units>
SharedSlice SliceOf(const Pass& pass, std::int64_t index, const Units& units) {
  float* place = pass.space.chunk_partials;
  for (auto slice = pass.batch.slices.begin();; ++slice) {
    const std::int64_t chunks = WholeTile(*slice, 0, 0).chunks(slice->rows - 1);
    const std::int64_t size = PartialFloats(slice->rows, pass.config());
    const std::int64_t count = units(*slice, chunks);
    if (index < count) return {*slice, chunks, size, place, index};
    index -= count;
    place += pass.config().kv_heads * chunks * size;
  }
}

void ShareChunks(const Pass& pass, std::int64_t layer, TeamMember& member) {
  const Config& config = pass.config();
  const auto units = [&](const SequenceSlice& /*slice*/, std::int64_t chunks) {
    return config.kv_heads * chunks;
  };
  std::int64_t count = 0;
  for (const SequenceSlice& slice : pass.batch.slices) {
    count += units(slice, WholeTile(slice, 0, 0).chunks(slice.rows - 1));
  }
  float* memory = pass.thread(member).partial;
  member.Phase(
      pass.Pieces(count, 1), [] {},
      [&](std::int64_t unit, std::int64_t /*end*/) {
        const SharedSlice of = SliceOf(pass, unit, units);
        AttendChunk(pass, WholeTile(of.slice, layer, of.index / of.chunks), of.index % of.chunks,
                    Partial(memory, of.slice.rows, config));
      },
      [&](std::int64_t unit, std::int64_t /*end*/) {
        const SharedSlice of = SliceOf(pass, unit, units);
        std::copy_n(memory, of.size, of.place + of.index * of.size);
      });
}

void MergeChunks(const Pass& pass, std::int64_t layer, TeamMember& member) {
  const Config& config = pass.config();
  const std::int64_t heads = config.group_heads();
  const std::int64_t per_row = config.kv_heads * heads;
  const auto units = [&](const SequenceSlice& slice, std::int64_t /*chunks*/) {
    return slice.rows * per_row;
  };
  const Partial state(pass.thread(member).partial, 1, config);  // its first head is used
  member.Phase(
      pass.Pieces(pass.rows() * per_row, 1), [] {},
      [&](std::int64_t unit, std::int64_t /*end*/) {
        const SharedSlice of = SliceOf(pass, unit, units);
        const std::int64_t row = of.index / per_row;
        const std::int64_t at = row * heads + of.index % heads;
        const std::int64_t kv_head = of.index % per_row / heads;
        float* first = of.place + kv_head * of.chunks * of.size;
        const auto partial = [&](std::int64_t chunk) {
          return Partial(first + chunk * of.size, of.slice.rows, config);
        };
        CopyHead(partial(0), at, state, config.head_dim);
        const std::int64_t chunks = WholeTile(of.slice, layer, kv_head).chunks(row);
        for (std::int64_t chunk = 1; chunk < chunks; ++chunk) {
          Merge(pass, partial(chunk), at, state, 0);
        }
      },
      [&](std::int64_t unit, std::int64_t /*end*/) {
        const SharedSlice of = SliceOf(pass, unit, units);
        Finish(pass, WholeTile(of.slice, layer, of.index % per_row / heads), of.index / per_row,
               of.index % heads, state.sum, state.out);
      });
}

// Whether sharing chunks is worth another phase: there are too few tiles to keep all threads
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
  if (!SharesChunks(pass, member)) {
    AttendTiles(pass, layer, member);
    return;
  }
  // A long context and few rows: threads share the chunks of a tile, and when all are there,
  // merge them in the same order as AttendTile.
  ShareChunks(pass, layer, member);
  MergeChunks(pass, layer, member);
}

}  // namespace vivace
