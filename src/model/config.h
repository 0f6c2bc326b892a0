// Config: the numbers that define a model, as its GGUF file states them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace vivace {

class GgufFile;

inline constexpr std::int64_t kMaxHeadDim = 256;

enum class RopeKind : std::uint8_t {
  kHalves,  // rotates (i, i + dim / 2): qwen2
  kPairs,   // rotates (2i, 2i + 1): llama, whose GGUF weights are permuted for it
};

struct Config {
  std::string architecture;  // general.architecture: "qwen2" or "llama"
  std::string name;          // general.name, may be empty
  std::int64_t vocab_size = 0;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t context = 0;  // positions the model was trained for
  float rms_epsilon = 0;
  double rope_base = 0;
  RopeKind rope = RopeKind::kHalves;

  // Query heads that share one key/value head (GQA).
  std::int64_t group_heads() const { return heads / kv_heads; }
  std::int64_t q_width() const { return heads * head_dim; }
};

// kUnsupported for an architecture that has no forward pass here; kBadInput for
// numbers that are missing or do not fit together.
Result<Config> ReadConfig(const GgufFile& file);

// The rules that ReadConfig and the pack file's reader both hold a config to.
Result<void> CheckConfig(const Config& config);

}  // namespace vivace
