// POST /completion, /completions: text as llama.cpp's server continues it.
#include <utility>

#include "api/completion_fields.h"
#include "api/endpoints.h"
#include "api/prompt_field.h"

namespace vivace {
namespace {

Answer<void> Complete(Call& call) {
  Fields fields(call.body);
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  Generation generation = {.model = std::move(*model), .request = {}};
  auto options = ReadCompletion(call, fields, generation);
  if (!options) return Refusal(std::move(options).error());
  if (const auto prompts = SetPrompts(fields, generation); !prompts) return prompts;
  return Start(call, std::move(generation),
               std::make_unique<CompletionFormat>(std::move(*options)));
}

}  // namespace

void AddCompletion(http::Router& router, Service& service) {
  for (const char* path : {"/completion", "/completions"}) {
    router.Add("POST", path, JsonEndpoint(service, Complete));
  }
}

}  // namespace vivace
