// POST /completion, /completions: text as llama.cpp's server continues it.
#include <iterator>
#include <utility>

#include "api/completion_fields.h"
#include "api/endpoints.h"
#include "api/prompt_field.h"
#include "base/clock.h"

namespace vivace {
namespace {

Answer<void> SetPrompts(const Fields& fields, Generation& generation) {
  const Json* prompt = fields.Find("prompt");
  if (prompt == nullptr) {
    return RefuseInput("prompt: needed, a string, token ids, or an array of prompts");
  }
  const double start_ms = NowMs();
  auto prompts = ReadPrompts(*prompt, generation.model->model());
  if (!prompts) return Refusal(std::move(prompts).error());
  generation.preparation.tokenize_ms = NowMs() - start_ms;
  generation.request.prompt = std::move(prompts->front());
  generation.more_prompts.assign(std::make_move_iterator(prompts->begin() + 1),
                                 std::make_move_iterator(prompts->end()));
  return {};
}

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
