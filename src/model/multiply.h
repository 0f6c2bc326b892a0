// Multiply: a packed matrix times activation rows, by groups of 16 output rows; what the
// phases of a forward pass and the output heads share.
#pragma once

#include <cstdint>

#include "model/matrix.h"
#include "model/workspace.h"

namespace vivace {

// Where several rows share a sweep, computing delays the next loads, and what hardware
// fetches ahead by itself is not enough: without prefetch 16 rows take a third longer.
inline constexpr std::int64_t kBatchPrefetch = 2048;

// out[row, 16 * (group - group_begin) + lane]; `out_stride` floats between rows.
inline void Multiply(const Matrix& matrix, const Activations& activations, std::int64_t rows,
                     std::int64_t group_begin, std::int64_t group_end, ThreadSpace& thread,
                     float* out, std::int64_t out_stride) {
  matrix.matmul({.weights = matrix.data,
                 .group_bytes = matrix.group_bytes,
                 .group_begin = group_begin,
                 .group_end = group_end,
                 .k = matrix.k,
                 .activations = activations,
                 .rows = rows,
                 .out = out,
                 .out_stride = out_stride,
                 .prefetch = rows == 1 ? thread.prefetch : kBatchPrefetch,
                 .scratch = thread.matmul_scratch});
}

// The rows from `first` on; k is the matrix's, padded.
inline Activations RowsFrom(Activations activations, std::int64_t first, std::int64_t k) {
  activations.q += first * k;
  activations.d += first * k / kBlock;
  activations.sum += first * k / kBlock;
  activations.half_sum += 2 * first * k / kBlock;
  activations.x += first * k;
  return activations;
}

}  // namespace vivace
