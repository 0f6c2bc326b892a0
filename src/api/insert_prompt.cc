#include "api/insert_prompt.h"

namespace vivace {

std::optional<std::vector<TokenId>> InsertPrompt(const Tokenizer& tokenizer,
                                                 const std::string& prefix,
                                                 const std::string& suffix) {
  // By model family; the beginning of the three names differs in each.
  struct Names {
    const char* prefix;
    const char* suffix;
    const char* middle;
  };
  constexpr Names kFamilies[] = {
      {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},  // Qwen, CodeGemma
      {"<fim_prefix>", "<fim_suffix>", "<fim_middle>"},        // StarCoder, SmolLM
      {"<fim-prefix>", "<fim-suffix>", "<fim-middle>"},        // Granite
      {"<PRE>", "<SUF>", "<MID>"},                             // Code Llama
  };
  for (const Names& names : kFamilies) {
    const auto before = tokenizer.Find(names.prefix);
    const auto after = tokenizer.Find(names.suffix);
    const auto middle = tokenizer.Find(names.middle);
    if (!before || !after || !middle) continue;
    std::vector<TokenId> ids;
    if (tokenizer.add_bos() && tokenizer.bos()) ids.push_back(*tokenizer.bos());
    ids.push_back(*before);
    tokenizer.Encode(prefix, Tokenizer::Special::kAsText, ids);
    ids.push_back(*after);
    tokenizer.Encode(suffix, Tokenizer::Special::kAsText, ids);
    ids.push_back(*middle);
    return ids;
  }
  return std::nullopt;
}

}  // namespace vivace
