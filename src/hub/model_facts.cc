#include "hub/model_facts.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace vivace {
namespace {

std::string Text(const GgufFile& file, std::string_view key) {
  return std::string(file.GetString(key).value_or(""));
}

void AddTensors(const GgufFile& file, ModelFacts& facts) {
  std::map<std::string_view, QuantShare> shares;
  for (const GgufTensor& tensor : file.tensors()) {
    std::uint64_t values = 1;  // cannot overflow: the file holds their bytes
    for (const std::uint64_t dim : tensor.dims) values *= dim;
    QuantShare& share = shares[Name(tensor.type)];
    share.type = Name(tensor.type);
    ++share.tensors;
    share.values += values;
    share.bytes += tensor.bytes.size();
    facts.parameters += values;
    facts.tensor_bytes += tensor.bytes.size();
  }
  for (auto& [type, share] : shares) facts.quants.push_back(std::move(share));
  std::stable_sort(facts.quants.begin(), facts.quants.end(),
                   [](const QuantShare& a, const QuantShare& b) { return a.bytes > b.bytes; });
}

bool HasInfillTokens(const GgufFile& file, const std::vector<std::string_view>& tokens) {
  if (file.Has("tokenizer.ggml.fim_pre_token_id")) return true;
  return std::any_of(tokens.begin(), tokens.end(), [](std::string_view token) {
    return token == "<|fim_prefix|>" || token == "<fim_prefix>" || token == "<fim-prefix>" ||
           token == "<|fim_begin|>" || token == "<PRE>";
  });
}

}  // namespace

double ModelFacts::bits_per_parameter() const {
  if (parameters == 0) return 0;
  return 8.0 * static_cast<double>(tensor_bytes) / static_cast<double>(parameters);
}

ModelFacts FactsOf(const GgufFile& file) {
  ModelFacts facts;
  facts.architecture = Text(file, "general.architecture");
  facts.title = Text(file, "general.name");
  for (const char* key : {"general.license", "general.license.name", "general.license.link"}) {
    if (facts.license.empty()) facts.license = Text(file, key);
  }
  const auto number = [&](const char* key) -> std::optional<std::uint64_t> {
    const auto value = file.GetU64(facts.architecture + "." + key);
    return value ? std::optional(*value) : std::nullopt;
  };
  facts.context = number("context_length");
  facts.layers = number("block_count");
  facts.hidden = number("embedding_length");
  facts.ffn = number("feed_forward_length");
  facts.heads = number("attention.head_count");
  facts.kv_heads = number("attention.head_count_kv");
  AddTensors(file, facts);
  facts.tokenizer = Text(file, "tokenizer.ggml.model");
  facts.pre_tokenizer = Text(file, "tokenizer.ggml.pre");
  const auto tokens =
      file.GetStrings("tokenizer.ggml.tokens").value_or(std::vector<std::string_view>());
  facts.tokens = tokens.size();
  facts.chat_template = Text(file, "tokenizer.chat_template");
  facts.capabilities = {"completion"};
  if (!facts.chat_template.empty()) facts.capabilities.emplace_back("chat");
  if (facts.chat_template.find("tools") != std::string::npos) {
    facts.capabilities.emplace_back("tools");
  }
  if (HasInfillTokens(file, tokens)) facts.capabilities.emplace_back("infill");
  return facts;
}

}  // namespace vivace
