// POST /infill: code between what stands before and after it, for models trained for that.
#include <utility>

#include <fmt/format.h>

#include "api/completion_fields.h"
#include "api/endpoints.h"
#include "api/infill_prompt.h"
#include "base/clock.h"

namespace vivace {
namespace {

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

Answer<void> Infill(Call& call) {
  Fields fields(call.body);
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  Generation generation = {.model = std::move(*model), .request = {}};
  const Tokenizer& tokenizer = generation.model->tokenizer();
  const auto tokens = FindInfillTokens(tokenizer);
  if (!tokens) {
    return NotSupported("infill is not available: the model has no tokens for a missing middle");
  }
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
