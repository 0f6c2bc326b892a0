// Workspace: the memory of a forward pass over up to `max_rows` tokens.
//
// Allocated once; a step allocates nothing. Shared by the team's threads, which
// publish disjoint rows or columns in a phase; each thread also has a private
// part. R is the number of rows of the batch.
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "base/result.h"
#include "kernels/kernel_table.h"
#include "model/batch.h"
#include "model/config.h"

namespace vivace {

// Columns of gate and up that one thread computes, multiplies and quantizes at once.
inline constexpr std::int64_t kUnitColumns = 64;

// Owns the arrays of Activations for up to `rows` rows of `k` values.
class ActivationBuffer {
 public:
  static Result<ActivationBuffer> Allocate(std::int64_t rows, std::int64_t k);

  // Quantizes row `row` from `x`, k floats, zero padded. `x` may be x(row).
  void Quantize(const KernelTable& kernels, std::int64_t row, const float* x);
  // The same for the columns [begin, end), multiples of 64; `x` is column `begin`.
  void QuantizeColumns(const KernelTable& kernels, std::int64_t row, std::int64_t begin,
                       std::int64_t end, const float* x);

  // The floats of a row, to be filled for products with float weights only: a prompt's
  // are megabytes that would pass through memory for nothing.
  float* x(std::int64_t row) { return x_ + row * k_; }
  const Activations& view() const { return view_; }

 private:
  Buffer memory_;
  std::int64_t k_ = 0;
  float* x_ = nullptr;
  std::int8_t* q_ = nullptr;
  float* d_ = nullptr;
  std::int32_t* sum_ = nullptr;
  std::int32_t* half_sum_ = nullptr;
  Activations view_ = {};
};

// What one thread needs for itself.
struct ThreadSpace {
  ActivationBuffer hidden_activations;    // [kRedundantRows, hidden]
  ActivationBuffer attended_activations;  // [kRedundantRows, heads * head_dim]
  Buffer memory;
  float* tile = nullptr;                // [2][max_rows, tile_columns] products of a work unit
  std::byte* matmul_scratch = nullptr;  // MatmulScratchBytes
  std::int64_t prefetch = 2048;         // as in MatmulArgs, of one row
  float* row = nullptr;                 // [widest row, padded] to be quantized
  float* partial = nullptr;             // AttentionPartialFloats
};

class Workspace {
 public:
  // Batches of up to this many rows are normed and quantized by every thread for
  // itself, which is cheaper than a barrier, and threads that wait do others' pieces again.
  static constexpr std::int64_t kRedundantRows = 4;

  // 4 MB of address space: 1000 chunks of a 0.5B model, or a context of 64 000 positions.
  static constexpr std::int64_t kChunkPartials = 1 << 20;

  // The prefetch distance of the threads' products with one row.
  void SetPrefetch(std::int64_t bytes);

  static Result<Workspace> Allocate(const Config& config, std::int64_t max_rows, int threads);

  std::int64_t max_rows = 0;
  std::int64_t tile_columns = 0;
  float* residual = nullptr;                 // [R, hidden]
  float* q = nullptr;                        // [R, heads * head_dim]
  float* attended = nullptr;                 // [R, heads * head_dim]
  float* chunk_partials = nullptr;           // [kChunkPartials] attention of shared chunks
  float* rope_cos = nullptr;                 // [R, head_dim / 2]
  float* rope_sin = nullptr;                 // [R, head_dim / 2]
  std::vector<SequenceSlice> output_slices;  // of the rows that need logits, in the last layer
  ActivationBuffer hidden_activations;       // [R, hidden]; at the end the rows that need logits
  ActivationBuffer attended_activations;     // [R, heads * head_dim]
  ActivationBuffer ffn_activations;          // [R, ffn]
  std::vector<ThreadSpace> threads;

 private:
  Buffer memory_;
};

}  // namespace vivace
