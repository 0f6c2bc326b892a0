#include "model/last_layer.h"

#include <algorithm>

namespace vivace {
namespace {

void MoveRow(float* rows, std::int64_t from, std::int64_t to, std::int64_t width) {
  if (from != to) std::copy_n(rows + from * width, width, rows + to * width);
}

}  // namespace

Batch OutputBatch(const Batch& batch, Workspace& space) {
  std::vector<SequenceSlice>& slices = space.output_slices;
  slices.clear();
  auto slice = batch.slices.begin();
  std::int64_t expected = -1;  // the row that would lengthen the newest slice
  for (std::size_t i = 0; i < batch.output_rows.size(); ++i) {
    const std::int64_t row = batch.output_rows[i];
    const auto* const before = &*slice;
    while (row >= slice->first_row + slice->rows) ++slice;
    if (row == expected && &*slice == before) {
      ++slices.back().rows;
    } else {
      slices.push_back({.kv = slice->kv,
                        .first_row = static_cast<std::int64_t>(i),
                        .rows = 1,
                        .position = slice->position + row - slice->first_row});
    }
    expected = row + 1;
  }
  return {
      .tokens = batch.tokens.first(batch.output_rows.size()), .slices = slices, .output_rows = {}};
}

void MoveOutputRows(const Pass& pass) {
  const Config& config = pass.config();
  std::int64_t to = 0;
  // Ascending, so that no row is overwritten before it has moved.
  for (const std::int64_t from : pass.batch.output_rows) {
    MoveRow(pass.space.residual, from, to, config.hidden);
    MoveRow(pass.space.rope_cos, from, to, config.head_dim / 2);
    MoveRow(pass.space.rope_sin, from, to, config.head_dim / 2);
    ++to;
  }
}

}  // namespace vivace
