#include "api/embed_inputs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/unit_length.h"
#include "chat/prompt.h"

namespace vivace {
namespace {

constexpr std::size_t kMostInputs = 2048;
constexpr const char* kExpected = "expected text, ids, or an array of one of them";

std::vector<TokenId> IdsOf(const Json& array, Fields& fields, const char* name) {
  std::vector<TokenId> ids;
  if (!array.is_array()) fields.Reject(name, kExpected);
  for (const Json& id : array) {
    if (array.is_array() && id.is_number_integer() && id >= 0 && id <= 0x7FFFFFFF) {
      ids.push_back(id.get<TokenId>());
    } else {
      fields.Reject(name, kExpected);
    }
  }
  return ids;
}

std::vector<std::vector<TokenId>> PromptsOf(const Model& model, const Json& input, Fields& fields,
                                            const char* name) {
  std::vector<std::vector<TokenId>> prompts;
  if (input.is_string()) {
    prompts.push_back(RawPrompt(model, input.get_ref<const std::string&>(), false));
  } else if (!input.is_array()) {
    fields.Reject(name, kExpected);
  } else if (!input.empty() && input.front().is_number()) {
    prompts.push_back(IdsOf(input, fields, name));
  } else {
    for (const Json& one : input) {
      prompts.push_back(one.is_string() ? RawPrompt(model, one.get_ref<const std::string&>(), false)
                                        : IdsOf(one, fields, name));
    }
  }
  return prompts;
}

// The first `dimensions` of a vector, scaled to unit length.
void Shorten(std::vector<float>& vector, std::size_t dimensions) {
  if (dimensions == 0 || dimensions >= vector.size()) return;
  vector.resize(dimensions);
  ScaleToUnitLength(vector);
}

}  // namespace

Answer<EmbedRequest> ReadEmbedRequest(Call& call, Fields& fields, const char* input_name) {
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  EmbedRequest request = {.model = std::move(*model), .prompts = {}};
  const Json* input = fields.Find(input_name);
  if (input == nullptr) return RefuseInput(fmt::format("{}: needed, text or ids", input_name));
  request.prompts = PromptsOf(request.model->model(), *input, fields, input_name);
  const std::int64_t hidden = request.model->model().config().hidden;
  request.dimensions = static_cast<std::size_t>(
      fields.Integer("dimensions", 0, fields.Has("dimensions") ? 1 : 0, hidden));
  if (request.prompts.size() > kMostInputs) {
    fields.Reject(input_name, fmt::format("{} inputs, allowed is up to {}", request.prompts.size(),
                                          kMostInputs));
  }
  if (std::ranges::any_of(request.prompts, &std::vector<TokenId>::empty)) {
    fields.Reject(input_name, "an input has no tokens");
  }
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return request;
}

Answer<void> Embed(Call& call, EmbedRequest request,
                   std::function<Json(const Embeddings& embeddings)> done) {
  const double start_ms = NowMs();
  const auto context = static_cast<std::size_t>(request.model->context());
  std::vector<GenerateRequest> requests;
  for (std::vector<TokenId>& prompt : request.prompts) {
    if (prompt.size() >= context) {
      if (!request.truncate) {
        return RefuseInput(
            fmt::format("an input has {} tokens, allowed is up to {}", prompt.size(), context - 1));
      }
      prompt.resize(context - 1);
    }
    requests.push_back({.prompt = std::move(prompt), .max_tokens = 0, .embed = true});
  }
  return RunAll(request.model, std::move(requests), call.request.stop,
                [start_ms, done = std::move(done), dimensions = request.dimensions,
                 writer = call.writer, dialect = call.dialect](std::span<const RunResult> results) {
                  Embeddings embeddings;
                  embeddings.vectors.reserve(results.size());
                  for (const RunResult& result : results) {
                    if (result.reason == FinishReason::kCancelled) {
                      (void)writer.Send(
                          ErrorResponse(dialect, ErrorOfStatus(503, "the request was cancelled")));
                      return;
                    }
                    embeddings.prompt_tokens += result.timings.prompt_tokens;
                    embeddings.vectors.push_back(result.embedding);
                    Shorten(embeddings.vectors.back(), dimensions);
                  }
                  embeddings.total_ms = NowMs() - start_ms;
                  (void)writer.Send(JsonResponse(done(embeddings)));
                });
}

}  // namespace vivace
