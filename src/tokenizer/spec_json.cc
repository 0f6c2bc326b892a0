#include "tokenizer/spec_json.h"

#include <nlohmann/json.hpp>

#include "base/mapped_file.h"

namespace vivace {
namespace {

void Fill(const nlohmann::json& json, OwnedSpec& owned) {
  TokenizerSpec& spec = owned.spec;
  spec.model = json.at("model").get<std::string>();
  spec.pre = json.value("pre", "");
  owned.tokens = json.at("tokens").get<std::vector<std::string>>();
  owned.merges = json.value("merges", std::vector<std::string>());
  spec.scores = json.value("scores", std::vector<float>());
  for (const int type : json.value("types", std::vector<int>())) {
    spec.types.push_back(static_cast<TokenType>(type));
  }
  const auto id = [&](const char* name) -> std::optional<TokenId> {
    if (!json.contains(name)) return std::nullopt;
    return json.at(name).get<TokenId>();
  };
  spec.bos = id("bos");
  spec.eos = id("eos");
  spec.eot = id("eot");
  spec.unk = id("unk");
  spec.pad = id("pad");
  spec.add_bos = json.value("add_bos", false);
  spec.add_eos = json.value("add_eos", false);
  spec.add_space_prefix = json.value("add_space_prefix", true);
  spec.tokens.assign(owned.tokens.begin(), owned.tokens.end());
  spec.merges.assign(owned.merges.begin(), owned.merges.end());
}

}  // namespace

Result<std::unique_ptr<const OwnedSpec>> ReadSpecJson(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file) return Context(file.error(), path);
  const auto* text = reinterpret_cast<const char*>(file->bytes().data());
  auto owned = std::make_unique<OwnedSpec>();
  try {
    Fill(nlohmann::json::parse(text, text + file->size()), *owned);
  } catch (const nlohmann::json::exception& error) {
    return Fail(ErrorKind::kBadInput, path + ": " + error.what());
  }
  return owned;
}

}  // namespace vivace
