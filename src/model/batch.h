// Batch: the tokens of one forward pass, rows of several sequences mixed.
//
// Views only; what they point to must last for the pass.
#pragma once

#include <cstdint>
#include <span>

#include "base/token_id.h"
#include "kv/sequence_kv.h"

namespace vivace {

// Consecutive tokens of one sequence. `kv` must already cover them
// (SequenceKv::Extend) and hold all positions before `position`.
struct SequenceSlice {
  SequenceKv* kv;
  std::int64_t first_row;  // in the batch
  std::int64_t rows;
  std::int64_t position;  // of the first row
};

struct Batch {
  std::span<const TokenId> tokens;  // [R], all in the vocabulary
  std::span<const SequenceSlice> slices;
  std::span<const std::int64_t> output_rows;  // rows whose logits are wanted, ascending
};

}  // namespace vivace
