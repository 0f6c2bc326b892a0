#include "api/infill_prompt.h"

#include <array>

namespace vivace {
namespace {

template <std::size_t size>
std::optional<TokenId> FindControl(const Tokenizer& tokenizer,
                                   const std::array<const char*, size>& names) {
  for (const char* name : names) {
    const auto token = tokenizer.Find(name);
    if (token && tokenizer.Type(*token) != TokenType::kNormal) return token;
  }
  return std::nullopt;
}

}  // namespace

std::optional<InfillTokens> FindInfillTokens(const Tokenizer& tokenizer) {
  constexpr std::array kPrefix = {"<|fim_prefix|>", "<fim_prefix>", "<fim-prefix>", "<PRE>"};
  constexpr std::array kSuffix = {"<|fim_suffix|>", "<fim_suffix>", "<fim-suffix>", "<SUF>"};
  constexpr std::array kMiddle = {"<|fim_middle|>", "<fim_middle>", "<fim-middle>", "<MID>"};
  constexpr std::array kRepository = {"<|repo_name|>", "<reponame>", "<repo_name>"};
  constexpr std::array kFile = {"<|file_sep|>", "<file_sep>"};
  const auto prefix = FindControl(tokenizer, kPrefix);
  const auto suffix = FindControl(tokenizer, kSuffix);
  const auto middle = FindControl(tokenizer, kMiddle);
  if (!prefix || !suffix || !middle) return std::nullopt;
  return InfillTokens{.prefix = *prefix,
                      .suffix = *suffix,
                      .middle = *middle,
                      .repository = FindControl(tokenizer, kRepository),
                      .file = FindControl(tokenizer, kFile)};
}

std::vector<TokenId> InfillPrompt(const InfillInput& input, const InfillTokens& tokens,
                                  const Tokenizer& tokenizer) {
  std::vector<TokenId> ids;
  const auto add = [&](const std::string& text) {
    tokenizer.Encode(text, Tokenizer::Special::kAsText, ids);
  };
  if (tokenizer.add_bos() && tokenizer.bos()) ids.push_back(*tokenizer.bos());
  if (!input.files.empty() && tokens.repository) {
    ids.push_back(*tokens.repository);
    add("project\n");
  }
  for (const OtherFile& file : input.files) {
    if (tokens.file) ids.push_back(*tokens.file);
    add((tokens.file ? file.name : "\n\n// " + file.name) + "\n" + file.text);
  }
  if (!input.files.empty() && tokens.file) {
    ids.push_back(*tokens.file);
    add("current\n");
  }
  ids.push_back(tokens.prefix);
  add(input.prefix + input.begun);
  ids.push_back(tokens.suffix);
  add(input.suffix);
  ids.push_back(tokens.middle);
  return ids;
}

}  // namespace vivace
