// Weights: everything that a forward pass reads, each with its shape.
//
// All are views into the model's packed image, which outlives them. Vectors are
// float32; a bias that the model lacks is null.
#pragma once

#include <cstddef>
#include <vector>

#include "model/coarse_head.h"
#include "model/matrix.h"

namespace vivace {

struct LayerWeights {
  const float* attn_norm = nullptr;  // [hidden]
  Matrix w_q;                        // [heads * head_dim, hidden]
  Matrix w_k;                        // [kv_heads * head_dim, hidden]
  Matrix w_v;                        // [kv_heads * head_dim, hidden]
  const float* b_q = nullptr;        // [heads * head_dim]
  const float* b_k = nullptr;        // [kv_heads * head_dim]
  const float* b_v = nullptr;        // [kv_heads * head_dim]
  Matrix w_o;                        // [hidden, heads * head_dim]
  const float* ffn_norm = nullptr;   // [hidden]
  Matrix w_gate;                     // [ffn, hidden]
  Matrix w_up;                       // [ffn, hidden]
  Matrix w_down;                     // [hidden, ffn]
};

// Rows of the input embedding, as the GGUF holds them; looked up, never multiplied.
struct Embedding {
  QuantType type = QuantType::kF32;
  const std::byte* rows = nullptr;  // [vocab_size] rows of row_bytes
  std::size_t row_bytes = 0;
};

struct Weights {
  Embedding embedding;  // [vocab_size, hidden]
  std::vector<LayerWeights> layers;
  const float* output_norm = nullptr;  // [hidden]
  Matrix output;                       // [vocab_size, hidden]
  CoarseHead coarse_head;              // of `output`, where that pays
};

}  // namespace vivace
