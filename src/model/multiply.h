// Multiplier: packed matrices times activation rows, by groups of 16 output rows; what the
// phases of a forward pass and the output heads share.
#pragma once

#include <cstdint>

#include "model/matrix.h"
#include "model/workspace.h"

namespace vivace {

// Where several rows share a sweep, computing delays the next loads, and what hardware
// fetches ahead by itself is not enough: without prefetch 16 rows take a third longer.
inline constexpr std::int64_t kBatchPrefetch = 2048;

// Activation rows that one thread multiplies matrices by, all of one k. What a kernel prepares of
// them is prepared once, so matrices of one type should follow each other. While one is in use,
// no other may be made for the same thread, and the activations must stay as they are.
class Multiplier {
 public:
  Multiplier(const Activations& activations, std::int64_t rows, ThreadSpace& thread)
      : activations_(activations), rows_(rows), thread_(thread) {}

  // out[row, 16 * (group - group_begin) + lane]; `out_stride` floats between rows.
  void operator()(const Matrix& matrix, std::int64_t group_begin, std::int64_t group_end,
                  float* out, std::int64_t out_stride) {
    matrix.matmul({.weights = matrix.data,
                   .group_bytes = matrix.group_bytes,
                   .group_begin = group_begin,
                   .group_end = group_end,
                   .k = matrix.k,
                   .activations = activations_,
                   .rows = rows_,
                   .out = out,
                   .out_stride = out_stride,
                   .prefetch = rows_ == 1 ? thread_.prefetch : kBatchPrefetch,
                   .scratch = thread_.matmul_scratch,
                   .prepared = any_ && last_ == matrix.type});
    any_ = true;
    last_ = matrix.type;
  }

 private:
  const Activations& activations_;
  std::int64_t rows_;
  ThreadSpace& thread_;
  bool any_ = false;  // of products so far
  QuantType last_ = QuantType::kF32;
};

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
