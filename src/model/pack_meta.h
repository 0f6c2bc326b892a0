// PackMeta: the small part of a pack image: the config and where each tensor lies.
//
// Stored as JSON in the image: it is read once per start and worth reading with a pager.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "quant/types.h"

namespace vivace {

// Offsets count from the start of the tensor section.
struct PackedTensor {
  QuantType type = QuantType::kF32;
  std::int64_t rows = 0;
  std::int64_t k = 0;  // as the model states it; padded to 64 in the image
  std::uint64_t offset = 0;
};

// The parts of model/coarse_head.h, which no GGUF has: made by packing.
struct PackedCoarseHead {
  PackedTensor plane;
  PackedTensor radius;
  PackedTensor inverse_weights;
};

struct PackMeta {
  Config config;
  QuantType embedding_type = QuantType::kF32;
  // Matrices by GGUF name ("blk.0.attn_q.weight"), packed as in kernels/packed_layout.h.
  std::map<std::string, PackedTensor, std::less<>> matrices;
  // Float32 vectors by GGUF name: norms and biases; rows is the length, k is 1.
  std::map<std::string, PackedTensor, std::less<>> vectors;
  std::optional<PackedCoarseHead> coarse_head;

  // The matrix that makes logits: a model without one of its own multiplies by the
  // embedding again.
  const char* head_name() const {
    return matrices.contains("output.weight") ? "output.weight" : "token_embd.weight";
  }
};

std::string WriteMeta(const PackMeta& meta);

// Checks types and ranges of every field; whether a tensor fits its section is the
// reader's to check.
Result<PackMeta> ReadMeta(std::string_view json);

}  // namespace vivace
