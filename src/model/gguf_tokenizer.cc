#include "model/gguf_tokenizer.h"

#include <string>

#include "gguf/gguf_file.h"

namespace vivace {
namespace {

std::optional<TokenId> OptionalId(const GgufFile& file, const std::string& key) {
  const auto value = file.GetU32("tokenizer.ggml." + key);
  if (!value) return std::nullopt;
  return static_cast<TokenId>(*value);
}

}  // namespace

Result<TokenizerSpec> ReadTokenizerSpec(const GgufFile& file) {
  TokenizerSpec spec;
  const auto model = file.GetString("tokenizer.ggml.model");
  if (!model) return Failure(model.error());
  spec.model = *model;
  spec.pre = file.GetString("tokenizer.ggml.pre").value_or("");
  const auto tokens = file.GetStrings("tokenizer.ggml.tokens");
  if (!tokens) return Failure(tokens.error());
  spec.tokens.assign(tokens->begin(), tokens->end());
  if (file.Has("tokenizer.ggml.scores")) {
    const auto scores = file.GetArray<float>("tokenizer.ggml.scores");
    if (!scores) return Failure(scores.error());
    spec.scores = *scores;
  }
  if (file.Has("tokenizer.ggml.token_type")) {
    const auto types = file.GetArray<std::int32_t>("tokenizer.ggml.token_type");
    if (!types) return Failure(types.error());
    for (const std::int32_t type : *types) {
      if (type < 1 || type > 6) {
        return Fail(ErrorKind::kBadInput, "tokenizer.ggml.token_type has " + std::to_string(type) +
                                              ", allowed is 1 to 6");
      }
      spec.types.push_back(static_cast<TokenType>(type));
    }
  }
  if (file.Has("tokenizer.ggml.merges")) {
    const auto merges = file.GetStrings("tokenizer.ggml.merges");
    if (!merges) return Failure(merges.error());
    spec.merges.assign(merges->begin(), merges->end());
  }
  spec.bos = OptionalId(file, "bos_token_id");
  spec.eos = OptionalId(file, "eos_token_id");
  spec.eot = OptionalId(file, "eot_token_id");
  spec.unk = OptionalId(file, "unknown_token_id");
  spec.pad = OptionalId(file, "padding_token_id");
  spec.add_bos = file.GetBool("tokenizer.ggml.add_bos_token").value_or(spec.model == "llama");
  spec.add_eos = file.GetBool("tokenizer.ggml.add_eos_token").value_or(false);
  spec.add_space_prefix = file.GetBool("tokenizer.ggml.add_space_prefix").value_or(true);
  return spec;
}

}  // namespace vivace
