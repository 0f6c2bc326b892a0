// What a model file says about itself, for people and for the server's answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gguf/gguf_file.h"

namespace vivace {

struct QuantShare {
  std::string type;  // "Q5_0"
  std::uint64_t tensors = 0;
  std::uint64_t values = 0;
  std::uint64_t bytes = 0;
};

struct ModelFacts {
  std::string architecture;
  std::string title;
  std::string license;
  // Missing where the file does not say it, or says it by layer.
  std::optional<std::uint64_t> context;
  std::optional<std::uint64_t> layers;
  std::optional<std::uint64_t> hidden;
  std::optional<std::uint64_t> ffn;
  std::optional<std::uint64_t> heads;
  std::optional<std::uint64_t> kv_heads;
  std::uint64_t parameters = 0;
  std::uint64_t tensor_bytes = 0;
  std::vector<QuantShare> quants;  // most bytes first
  std::string tokenizer;           // "gpt2"
  std::string pre_tokenizer;       // "qwen2"
  std::uint64_t tokens = 0;
  std::string chat_template;  // "" where the file has none
  // Of completion, chat, tools, infill: what its template and tokens are made for.
  std::vector<std::string> capabilities;

  // Bits of the file per parameter; 0 without tensors.
  double bits_per_parameter() const;
};

// Texts are the file's bytes as they are: not checked to be UTF-8 or printable.
ModelFacts FactsOf(const GgufFile& file);

}  // namespace vivace
