// The forward pass: tokens in, rows of logits out.
//
// A batch mixes rows of several sequences. Each row's result depends on its own
// sequence only, never on the company it was computed in, the number of threads
// or where a prompt was cut: the arithmetic of a row is fixed (docs/numbers.md).
#pragma once

#include <cstdint>

#include "base/thread_team.h"
#include "model/batch.h"
#include "model/model.h"
#include "model/workspace.h"

namespace vivace {

// Floats between two rows of logits: the vocabulary, padded to whole groups.
std::int64_t LogitsStride(const Config& config);

// Evaluates the batch into the sequences' pages. R <= space.max_rows. Afterwards
// space.hidden_activations holds the output-normed `output_rows`, one after the other.
void Forward(const Model& model, const Batch& batch, Workspace& space, ThreadTeam& team);

// Logits of the rows [first, first + rows) left by Forward, to `logits`
// [rows, LogitsStride]. The padding columns hold zeros.
void ComputeLogits(const Model& model, std::int64_t first, std::int64_t rows, Workspace& space,
                   ThreadTeam& team, float* logits);

}  // namespace vivace
