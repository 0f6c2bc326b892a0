#include "api/generation.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "api/reply.h"
#include "api/sampling_fields.h"
#include "base/clock.h"
#include "chat/prompt.h"

namespace vivace {
namespace {

Refusal TooLong(std::size_t tokens, std::int64_t context) {
  ApiError error(400, "exceed_context_size_error",
                 fmt::format("the prompt has {} tokens, allowed is up to {} (the context is {})",
                             tokens, context - 1, context));
  error.more = {{"n_prompt_tokens", tokens}, {"n_ctx", context}};
  return Refusal(std::move(error));
}

Answer<void> CheckLength(const Generation& generation, std::span<const TokenId> prompt,
                         std::int64_t most) {
  const std::size_t length = prompt.size();
  const std::int64_t context = generation.model->context();
  if (std::cmp_greater_equal(length, context)) return TooLong(length, context);
  if (most > 0 && std::cmp_greater(length, most)) {
    return RefuseInput(fmt::format("the prompt has {} tokens, allowed is up to {}", length, most));
  }
  return {};
}

}  // namespace

Answer<ModelLease> AcquireModel(Call& call, Fields& fields) {
  const std::string name = fields.Text("model");
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  auto model = call.service.models.Acquire(name);
  if (!model) return Refusal(std::move(model).error());
  return std::move(*model);
}

void ReadOwnFields(Fields& fields, Generation& generation) {
  generation.request.cache_id = fields.Text("cache_id");
  if (generation.request.cache_id.size() > 256) {
    fields.Reject("cache_id", "longer than 256 bytes");
  }
  const Json* cut = fields.Object("stream_chunk");
  if (cut == nullptr) return;
  Fields cut_fields(*cut, "stream_chunk.");
  generation.cut.tokens = cut_fields.Integer("tokens", 16, 1, 4096);
  generation.cut.ms = cut_fields.Number("ms", 50, 0, 10'000);
  if (const auto status = cut_fields.status(); !status) {
    fields.Reject("stream_chunk", status.error().message);
  }
}

void ReadGeneration(Call& call, Fields& fields, Generation& generation) {
  GenerateRequest& request = generation.request;
  const Tokenizer& tokenizer = generation.model->tokenizer();
  ReadOwnFields(fields, generation);
  request.sampling = ReadSampling(fields, tokenizer);
  generation.seeded = fields.Integer("seed", -1) >= 0;
  // Clients write the largest int for "no limit".
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  request.max_tokens = call.service.options.default_max_tokens;
  for (const char* name : {"n_predict", "max_tokens", "max_completion_tokens"}) {
    request.max_tokens = fields.Integer(name, request.max_tokens, -1, kMost);
  }
  AddStops(tokenizer, fields.Texts("stop"), request);
  generation.choices = fields.Integer("n", 1, 1, call.service.options.max_choices);
  generation.stream = fields.Bool("stream", false);
  generation.report_progress = fields.Bool("return_progress", false);
  if (fields.Bool("ignore_eos", false)) IgnoreEnd(tokenizer, request);
}

void AddStops(const Tokenizer& tokenizer, std::vector<std::string> stops,
              GenerateRequest& request) {
  for (std::string& stop : stops) {
    const auto token = tokenizer.Find(stop);
    if (token && tokenizer.IsControl(*token)) request.stop_tokens.push_back(*token);
    request.stop.push_back(std::move(stop));
  }
}

void SetTextPrompt(const std::string& text, bool parse_special, Generation& generation) {
  const double start_ms = NowMs();
  generation.request.prompt = RawPrompt(generation.model->model(), text, parse_special);
  generation.preparation.tokenize_ms = NowMs() - start_ms;
}

Answer<void> SetChatPrompt(const ChatRequest& chat, Generation& generation) {
  const double start_ms = NowMs();
  const auto pieces = generation.model->chat().Render(chat);
  if (!pieces) return Refusal(pieces.error());
  const double rendered_ms = NowMs();
  generation.request.prompt = EncodePieces(generation.model->model(), *pieces);
  generation.preparation.template_ms = rendered_ms - start_ms;
  generation.preparation.tokenize_ms = NowMs() - rendered_ms;
  return {};
}

Answer<void> Start(Call& call, Generation generation, std::unique_ptr<ReplyFormat> format) {
  const std::int64_t most_tokens = call.service.options.max_prompt_tokens;
  if (const auto fits = CheckLength(generation, generation.request.prompt, most_tokens); !fits) {
    return fits;
  }
  for (const auto& prompt : generation.more_prompts) {
    if (const auto fits = CheckLength(generation, prompt, most_tokens); !fits) return fits;
  }
  const std::int64_t answers =
      generation.choices * static_cast<std::int64_t>(1 + generation.more_prompts.size());
  const std::int64_t most = std::max<std::int64_t>(generation.model->engine().options().max_waiting,
                                                   call.service.options.max_choices);
  if (answers > most) {
    return RefuseInput(
        fmt::format("the request asks for {} answers, allowed is up to {}", answers, most));
  }
  const auto reply = std::make_shared<Reply>(call, std::move(generation), std::move(format));
  return reply->Start();
}

}  // namespace vivace
