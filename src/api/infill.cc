// POST /infill: code between what stands before and after it, for models trained for that.
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/completion_fields.h"
#include "api/endpoints.h"
#include "base/clock.h"

namespace vivace {
namespace {

// The control tokens that mark the parts of a prompt, by the names that models give them.
struct InfillTokens {
  TokenId prefix;
  TokenId suffix;
  TokenId middle;
  std::optional<TokenId> repository;
  std::optional<TokenId> file;
};

template <std::size_t size>
std::optional<TokenId> FindControl(const Tokenizer& tokenizer,
                                   const std::array<const char*, size>& names) {
  for (const char* name : names) {
    const auto token = tokenizer.Find(name);
    if (token && tokenizer.Type(*token) != TokenType::kNormal) return token;
  }
  return std::nullopt;
}

Answer<InfillTokens> FindInfillTokens(const Tokenizer& tokenizer) {
  constexpr std::array kPrefix = {"<|fim_prefix|>", "<fim_prefix>", "<fim-prefix>", "<PRE>"};
  constexpr std::array kSuffix = {"<|fim_suffix|>", "<fim_suffix>", "<fim-suffix>", "<SUF>"};
  constexpr std::array kMiddle = {"<|fim_middle|>", "<fim_middle>", "<fim-middle>", "<MID>"};
  constexpr std::array kRepository = {"<|repo_name|>", "<reponame>", "<repo_name>"};
  constexpr std::array kFile = {"<|file_sep|>", "<file_sep>"};
  const auto prefix = FindControl(tokenizer, kPrefix);
  const auto suffix = FindControl(tokenizer, kSuffix);
  const auto middle = FindControl(tokenizer, kMiddle);
  if (!prefix || !suffix || !middle) {
    return NotSupported("infill is not available: the model has no tokens for a missing middle");
  }
  return InfillTokens{.prefix = *prefix,
                      .suffix = *suffix,
                      .middle = *middle,
                      .repository = FindControl(tokenizer, kRepository),
                      .file = FindControl(tokenizer, kFile)};
}

struct OtherFile {
  std::string name;
  std::string text;
};

struct InfillInput {
  std::string prefix;
  std::string suffix;
  std::string begun;  // the beginning of the answer
  std::vector<OtherFile> files;
};

InfillInput ReadInput(Fields& fields) {
  InfillInput input = {.prefix = fields.Text("input_prefix"),
                       .suffix = fields.Text("input_suffix"),
                       .begun = fields.Text("prompt"),
                       .files = {}};
  const Json* extra = fields.Array("input_extra");
  if (extra == nullptr) return input;
  for (std::size_t i = 0; i < extra->size(); ++i) {
    const Json& file = (*extra)[i];
    if (!file.is_object()) {
      fields.Reject("input_extra", fmt::format("entry {} is no object", i));
      return input;
    }
    Fields file_fields(file, fmt::format("[{}].", i));
    input.files.push_back(
        {.name = file_fields.Text("filename", "other"), .text = file_fields.Text("text")});
    if (!file_fields.Has("text")) file_fields.Reject("text", "needed, a string");
    if (const auto status = file_fields.status(); !status) {
      fields.Reject("input_extra", status.error().message);
    }
  }
  return input;
}

// Other files first, then the one with the gap: what is before it, with the beginning of
// the answer, and what is after it. What people wrote stays text, whatever it looks like.
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

Answer<void> Infill(Call& call) {
  Fields fields(call.body);
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  Generation generation = {.model = std::move(*model), .request = {}};
  const Tokenizer& tokenizer = generation.model->tokenizer();
  const auto tokens = FindInfillTokens(tokenizer);
  if (!tokens) return Refusal(tokens.error());
  const InfillInput input = ReadInput(fields);
  auto options = ReadCompletion(call, fields, generation);
  if (!options) return Refusal(std::move(options).error());
  const double start_ms = NowMs();
  generation.request.prompt = InfillPrompt(input, *tokens, tokenizer);
  generation.preparation.tokenize_ms = NowMs() - start_ms;
  // A model that goes on with the next file has filled the gap.
  for (const auto& end : {tokens->repository, tokens->file}) {
    if (end) generation.request.stop_tokens.push_back(*end);
  }
  return Start(call, std::move(generation),
               std::make_unique<CompletionFormat>(std::move(*options)));
}

}  // namespace

void AddInfill(http::Router& router, Service& service) {
  router.Add("POST", "/infill", JsonEndpoint(service, Infill));
}

}  // namespace vivace
