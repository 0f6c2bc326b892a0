#include "model/config.h"

#include <cmath>
#include <optional>

#include "gguf/gguf_file.h"

namespace vivace {
namespace {

Result<std::int64_t> Required(const GgufFile& file, const std::string& key) {
  const auto value = file.GetU32(key);
  if (!value) return Failure(value.error());
  return static_cast<std::int64_t>(*value);
}

std::int64_t Optional(const GgufFile& file, const std::string& key, std::int64_t fallback) {
  const auto value = file.GetU32(key);
  return value ? static_cast<std::int64_t>(*value) : fallback;
}

Failure OutOfRange(const std::string& name, std::int64_t value, const std::string& allowed) {
  return Fail(ErrorKind::kBadInput,
              name + " is " + std::to_string(value) + ", allowed is " + allowed);
}

struct Bound {
  const char* name;
  std::int64_t value;
  std::int64_t limit;
};

}  // namespace

Result<void> CheckConfig(const Config& config) {
  // Far above any model of the kind, far below where products of two could overflow.
  const Bound bounds[] = {{"vocabulary size", config.vocab_size, std::int64_t{1} << 24},
                          {"block count", config.layers, 1024},
                          {"embedding length", config.hidden, 1 << 16},
                          {"feed-forward length", config.ffn, 1 << 18},
                          {"head count", config.heads, 1024},
                          {"key/value head count", config.kv_heads, 1024},
                          {"head size", config.head_dim, kMaxHeadDim},
                          {"context length", config.context, std::int64_t{1} << 24}};
  for (const Bound& bound : bounds) {
    if (bound.value < 1 || bound.value > bound.limit) {
      return OutOfRange(bound.name, bound.value, "1 to " + std::to_string(bound.limit));
    }
  }
  if (config.heads % config.kv_heads != 0) {
    return OutOfRange("head count", config.heads,
                      "a multiple of the key/value head count " + std::to_string(config.kv_heads));
  }
  if (config.head_dim % 16 != 0)
    return OutOfRange("head size", config.head_dim, "a multiple of 16");
  if (config.hidden % 16 != 0) {
    return OutOfRange("embedding length", config.hidden, "a multiple of 16");
  }
  if (config.ffn % 16 != 0) {
    return OutOfRange("feed-forward length", config.ffn, "a multiple of 16");
  }
  if (!(config.rms_epsilon >= 0) || !(config.rms_epsilon < 1)) {
    return Fail(
        ErrorKind::kBadInput,
        "the norm's epsilon is " + std::to_string(config.rms_epsilon) + ", allowed is 0 to 1");
  }
  if (!(config.rope_base >= 1) || !std::isfinite(config.rope_base)) {
    return Fail(ErrorKind::kBadInput, "the rope base is " + std::to_string(config.rope_base) +
                                          ", allowed is a finite number from 1 on");
  }
  return {};
}

Result<Config> ReadConfig(const GgufFile& file) {
  Config config;
  const auto architecture = file.GetString("general.architecture");
  if (!architecture) return Failure(architecture.error());
  config.architecture = *architecture;
  if (config.architecture != "qwen2" && config.architecture != "llama") {
    return Fail(ErrorKind::kUnsupported,
                "architecture \"" + config.architecture +
                    "\" has no forward pass here, allowed is qwen2, llama");
  }
  config.name = file.GetString("general.name").value_or("");
  config.rope = config.architecture == "llama" ? RopeKind::kPairs : RopeKind::kHalves;

  const std::string prefix = config.architecture + ".";
  struct Field {
    const char* key;
    std::int64_t* value;
  };
  const Field fields[] = {{"block_count", &config.layers},
                          {"embedding_length", &config.hidden},
                          {"feed_forward_length", &config.ffn},
                          {"context_length", &config.context},
                          {"attention.head_count", &config.heads}};
  for (const Field& field : fields) {
    const auto value = Required(file, prefix + field.key);
    if (!value) return Failure(value.error());
    *field.value = *value;
  }
  if (config.heads < 1) return OutOfRange("head count", config.heads, "1 to 1024");
  config.kv_heads = Optional(file, prefix + "attention.head_count_kv", config.heads);
  config.head_dim = Optional(file, prefix + "attention.key_length", config.hidden / config.heads);
  const std::int64_t rotated = Optional(file, prefix + "rope.dimension_count", config.head_dim);
  if (rotated != config.head_dim) {
    return Fail(ErrorKind::kUnsupported, "rope.dimension_count is " + std::to_string(rotated) +
                                             ", allowed is the head size " +
                                             std::to_string(config.head_dim));
  }
  const auto epsilon = file.GetF32(prefix + "attention.layer_norm_rms_epsilon");
  if (!epsilon) return Failure(epsilon.error());
  config.rms_epsilon = *epsilon;
  config.rope_base = file.GetF32(prefix + "rope.freq_base").value_or(10000.0F);

  const GgufTensor* embedding = file.FindTensor("token_embd.weight");
  if (embedding == nullptr || embedding->dims.size() != 2) {
    return Fail(ErrorKind::kBadInput, "token_embd.weight is missing or not a matrix");
  }
  if (static_cast<std::int64_t>(embedding->dims[0]) != config.hidden) {
    return OutOfRange("the row length of token_embd.weight",
                      static_cast<std::int64_t>(embedding->dims[0]),
                      "the embedding length " + std::to_string(config.hidden));
  }
  config.vocab_size = static_cast<std::int64_t>(embedding->dims[1]);
  VIVACE_RETURN_IF_ERROR(CheckConfig(config));
  return config;
}

}  // namespace vivace
