// The kernels of one instruction set, as plain function pointers.
//
// Every kernel equals the portable one bit for bit (docs/numbers.md); a product
// equals RowProductReference of quant/reference.h. No kernel allocates, throws or
// knows of threads; all are safe to call from several threads on disjoint outputs.
//
// This header is compiled into every ISA object, so it holds declarations and
// plain data only: no inline functions, no templates, no standard containers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "quant/quant_type.h"

namespace vivace {

// Quantized activations: rows of k values, k a multiple of 64 (zero padded).
// See quant/activation.h for how they are made. All arrays 64-byte aligned.
struct Activations {
  const std::int8_t* q;          // [rows, k]
  const float* d;                // [rows, k / 32]
  const std::int32_t* sum;       // [rows, k / 32] sums of 32 q
  const std::int32_t* half_sum;  // [rows, k / 16] sums of 16 q
  const float* x;                // [rows, k] the floats; only float weights read them
};

// out[row, 16 * (group - group_begin) + lane] = product of weight row
// 16 * group + lane with activation row `row`; `out_stride` floats between rows.
struct MatmulArgs {
  const std::byte* weights;  // group 0 of a packed matrix, 64-byte aligned
  std::int64_t group_bytes;
  std::int64_t group_begin;
  std::int64_t group_end;
  std::int64_t k;  // padded to 64
  Activations activations;
  std::int64_t rows;  // >= 1
  float* out;
  std::int64_t out_stride;
  std::int64_t prefetch;  // bytes ahead of the loads of weights; 0: none
  std::byte* scratch;     // MatmulScratchBytes(k, rows) of dispatch.h, 64-byte aligned, private
  // The scratch is as the last call left it, and that was of the same kernel, k, activations
  // and rows: what it prepared of them is taken from there.
  bool prepared = false;
};
using MatmulKernel = void (*)(const MatmulArgs& args);

// One chunk of 128 positions (8 pages of 16), `rows` queries of one sequence and the
// `heads` query heads that share one key/value head. Query row r sees the first
// clamp(visible + r, 0, 128) positions of the chunk; rows that see none are skipped.
// Per row and head, over the visible positions p in ascending order:
//   s[p]  = fma chain over dim ascending of q[dim] * k[dim][p], from +0
//   max   = the largest s
//   e[p]  = Exp(s[p] - max)
//   sum   = 16 lanes (lane = p % 16) added up over pages, then the 8-4-2-1 tree
//   o[d]  = fma chain over p ascending of e[p] * v[p][d], from +0
struct AttentionChunkArgs {
  const float* q;  // [rows][heads][dim] with q_stride floats between rows; scaled by 1/sqrt(dim)
  std::int64_t q_stride;
  std::int64_t rows;
  std::int64_t heads;
  std::int64_t dim;  // a multiple of 16, <= 256
  const std::uint16_t* const*
      keys;  // 8 pages, each f16 [dim][16 positions]; only visible ones are read
  const std::uint16_t* const* values;  // 8 pages, each f16 [16 positions][dim]
  std::int64_t next_pages;  // that many more follow in both lists, to be fetched meanwhile
  std::int64_t visible;     // for row 0; may be negative
  float* max;               // [rows][heads]
  float* sum;               // [rows][heads]
  float* out;               // [rows][heads][dim]
};

struct KernelTable {
  const char* name;

  // By QuantType; null at numbers that are no type.
  MatmulKernel matmul[kQuantTypeIds];

  // One activation row, as QuantizeRowReference of quant/activation.h. k % 64 == 0.
  void (*quantize)(const float* x, std::int64_t k, std::int8_t* q, float* d, std::int32_t* sum,
                   std::int32_t* half_sum);

  // out[i] = (x[i] * scale) * gain[i], scale = 1 / sqrt(sum / size + epsilon); sum of squares
  // by fma in 16 lanes (lane = i % 16), then the 8-4-2-1 tree. `out` may be `x`. size % 16 == 0.
  void (*rms_norm)(const float* x, const float* gain, float* out, std::int64_t size, float epsilon);

  // Rotates one head in place; cos and sin hold dim / 2 values.
  //   a' = fma(a, cos, -(b * sin)), b' = fma(b, cos, a * sin)
  // halves: (a, b) = (x[i], x[i + dim / 2]);  pairs: (x[2i], x[2i + 1]).
  void (*rope_halves)(float* x, const float* cos, const float* sin, std::int64_t dim);
  void (*rope_pairs)(float* x, const float* cos, const float* sin, std::int64_t dim);

  // out[i] = (gate[i] / (1 + Exp(-gate[i]))) * up[i]. size % 16 == 0. `out` may be `gate`.
  void (*silu_mul)(const float* gate, const float* up, float* out, std::int64_t size);

  // y[i] = y[i] + x[i]. size % 16 == 0.
  void (*add)(const float* x, float* y, std::int64_t size);

  // Round to nearest even; size % 16 == 0.
  void (*to_half)(const float* x, std::uint16_t* out, std::int64_t size);

  void (*attention_chunk)(const AttentionChunkArgs& args);

  // Merges the next chunk's (max, sum, out[dim]) of one head into a running state:
  //   m = larger max, a = Exp(max - m), b = Exp(next_max - m)
  //   sum = fma(sum, a, next_sum * b), out[d] = fma(out[d], a, next_out[d] * b)
  void (*attention_merge)(float* max, float* sum, float* out, float next_max, float next_sum,
                          const float* next_out, std::int64_t dim);

  // out[i] = Exp(x[i]), the project's one exponential (portable/exp.cc). size % 16 == 0.
  void (*exp)(const float* x, float* out, std::int64_t size);

  // For measuring only: the tier's fastest int8 dot step on registers, `rounds` times as
  // many as keep it busy. Returns the number of products made, 64 a step. With a [4] of 0 to
  // 31, b [16][4] and dot[l] = the sum over i of a[i] * b[l][i]:
  //   out[l] = (products / 64) * dot[l], modulo 2^32
  std::int64_t (*dot_peak)(const std::uint8_t* a, const std::int8_t* b, std::int64_t rounds,
                           std::int32_t* out);
};

namespace portable {
extern const KernelTable kKernels;
}
namespace avx2 {
extern const KernelTable kKernels;
}
namespace avxvnni {
extern const KernelTable kKernels;
}
namespace avx512 {
extern const KernelTable kKernels;
}
namespace avx512gfni {
extern const KernelTable kKernels;
}
namespace amx {
extern const KernelTable kKernels;
}

}  // namespace vivace
