#include "api/generation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/reply.h"
#include "api/sampling_fields.h"
#include "base/clock.h"
#include "chat/prompt.h"

namespace vivace {
namespace {

bool Fits(const Generation& generation) {
  return std::cmp_less(generation.request.prompt.size(), generation.model->context());
}

Refusal TooLong(std::int64_t tokens, std::int64_t context) {
  ApiError error(400, "exceed_context_size_error",
                 fmt::format("the prompt has {} tokens, allowed is up to {} (the context is {})",
                             tokens, context - 1, context));
  error.more = {{"n_prompt_tokens", tokens}, {"n_ctx", context}};
  return Refusal(std::move(error));
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
  if (const std::string policy = fields.Text("context_policy"); !policy.empty()) {
    const auto parsed = ParseContextPolicy(policy);
    if (parsed) generation.context_policy = *parsed;
    if (!parsed) {
      fields.Reject("context_policy", fmt::format("\"{}\" is unknown, allowed is {}",
                                                  policy.substr(0, 40), kContextPolicies));
    }
  }
  generation.request.keep = fields.Integer("n_keep", 0, -1, std::int64_t{1} << 30);
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
  const Fingerprint& source = generation.model->model().fingerprint();
  generation.fingerprint = fmt::format("vivace-{}-{:08x}", call.service.options.version,
                                       static_cast<std::uint32_t>(source.sample[0]));
  request.sampling = ReadSampling(fields, tokenizer);
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
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
  GenerateRequest& request = generation.request;
  request.prompt = EncodePieces(generation.model->model(), *pieces);
  generation.preparation.template_ms += rendered_ms - start_ms;
  generation.preparation.tokenize_ms += NowMs() - rendered_ms;
  ContextPolicy& policy = generation.context_policy;
  if (policy.kind != ContextPolicy::Kind::kKeepLast || Fits(generation)) return {};
  policy.kind = ContextPolicy::Kind::kError;  // what is left has to fit
  const std::size_t before = request.prompt.size();
  if (const auto kept = SetChatPrompt(KeepLast(chat, policy.last), generation); !kept) return kept;
  request.dropped = static_cast<std::int64_t>(before - request.prompt.size());
  return {};
}

Answer<void> CheckLength(Call& call, Generation& generation) {
  GenerateRequest& request = generation.request;
  const std::int64_t most = call.service.options.max_prompt_tokens;
  const auto length = static_cast<std::int64_t>(request.prompt.size());
  if (most > 0 && length > most) {
    return RefuseInput(fmt::format("the prompt has {} tokens, allowed is up to {}", length, most));
  }
  request.shift = generation.context_policy.kind == ContextPolicy::Kind::kShift;
  if (Fits(generation)) return {};
  const std::int64_t context = generation.model->context();
  if (!request.shift) return TooLong(length, context);
  // As if the prompt had been shifted each time that the context was full.
  const std::int64_t keep = std::clamp<std::int64_t>(request.keep, 0, context / 2);
  const std::int64_t block = std::max<std::int64_t>((context - keep) / 2, 1);
  request.dropped = (length - context) / block * block + block;
  const auto first = request.prompt.begin() + keep;
  request.prompt.erase(first, first + request.dropped);
  return {};
}

Answer<void> Start(Call& call, Generation generation, std::unique_ptr<ReplyFormat> format) {
  if (const auto fits = CheckLength(call, generation); !fits) return fits;
  const auto reply = std::make_shared<Reply>(call, std::move(generation), std::move(format));
  return reply->Start();
}

}  // namespace vivace
