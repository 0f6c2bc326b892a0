// The rows that the output needs, as a batch of their own.
//
// In the last layer a prompt's other rows only leave their keys and values: nothing reads
// what comes after those. For a prompt of a 24-layer model that is 4 % of all products.
#pragma once

#include "model/batch.h"
#include "model/pass.h"

namespace vivace {

// `batch.output_rows` as the rows 0, 1, ... of a batch. Its slices lie in
// `space.output_slices`, its tokens are not those of the rows.
Batch OutputBatch(const Batch& batch, Workspace& space);

// Moves those rows of the residual and of the rotation to where OutputBatch has them.
void MoveOutputRows(const Pass& pass);

}  // namespace vivace
