#include "api/generation.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "api/model_defaults.h"
#include "api/reply.h"
#include "api/sampling_fields.h"
#include "api/tool_use.h"
#include "base/clock.h"
#include "chat/prompt.h"
#include "chat/template_text.h"
#include "chat/tool_prompt.h"
#include "http/api_keys.h"

namespace vivace {
namespace {

std::int64_t ContextOf(const Generation& generation) {
  return generation.context > 0 ? generation.context : generation.model->context();
}

bool Fits(const Generation& generation) {
  return std::cmp_less(generation.request.prompt.size(), ContextOf(generation));
}

Refusal TooLong(std::int64_t tokens, std::int64_t context) {
  ApiError error(400, "exceed_context_size_error",
                 fmt::format("the prompt has {} tokens, allowed is up to {} (the context is {})",
                             tokens, context - 1, context));
  error.more = {{"n_prompt_tokens", tokens}, {"n_ctx", context}};
  return Refusal(std::move(error));
}

Refusal OverLimit(std::int64_t tokens, std::int64_t most) {
  return RefuseInput(fmt::format("the prompt has {} tokens, allowed is up to {}", tokens, most));
}

// Clients ask for large contexts by habit; who gets less is told when a prompt does not fit.
void ReadContext(Fields& fields, Generation& generation) {
  if (!fields.Has("num_ctx")) return;
  generation.context =
      std::min(fields.Integer("num_ctx", 1, 1, std::int64_t{1} << 31), generation.model->context());
}

}  // namespace

Answer<ModelLease> AcquireModel(Call& call, Fields& fields) {
  std::string name = fields.Text("model");
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (auto derived = FindDerivedFor(call.service.models, name)) {
    if (const auto applied = ApplyDefaults(*derived, call.dialect, call.body); !applied) {
      return Refusal(applied.error());
    }
    name = derived->modelfile.from;
    call.derived = std::make_shared<const DerivedModel>(std::move(*derived));
  }
  if (ModelLease here = call.service.models.Peek(name)) return here;
  const double start_ms = NowMs();
  auto model = call.service.models.Acquire(name);
  if (!model) return Refusal(std::move(model).error());
  call.load_ms = NowMs() - start_ms;
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
  generation.request.speculation = fields.Bool("speculation", true);
  generation.request.keep = fields.Integer("n_keep", 0, -1, std::int64_t{1} << 30);
  ReadContext(fields, generation);
  if (const Json* options = fields.Find("options"); options != nullptr && options->is_object()) {
    Fields option_fields(*options, "options.");
    ReadContext(option_fields, generation);
    if (const auto status = option_fields.status(); !status) fields.Reject(status.error().message);
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
  generation.derived = call.derived;
  ReadOwnFields(fields, generation);
  const Fingerprint& source = generation.model->model().fingerprint();
  generation.fingerprint = fmt::format("vivace-{}-{:08x}", call.service.options.version,
                                       static_cast<std::uint32_t>(source.sample[0]));
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

Answer<std::optional<ChatTemplate>> OwnTemplate(const std::string& text,
                                                const Generation& generation) {
  const auto* derived = generation.derived.get();
  const bool inherits = text.empty() && derived != nullptr;
  const std::string& chosen = inherits ? derived->modelfile.chat_template : text;
  if (chosen.empty()) return std::nullopt;
  auto source = TemplateSource(chosen);
  if (!source) return Refusal(std::move(source).error());
  auto compiled = CompileChatTemplate(generation.model->model(), std::move(*source));
  if (!compiled) return Refusal(std::move(compiled).error());
  return std::move(*compiled);
}

Answer<void> SetChatPrompt(const ChatRequest& chat, Generation& generation) {
  const auto own = OwnTemplate("", generation);
  if (!own) return Refusal(own.error());
  return SetChatPrompt(*own ? **own : generation.model->chat(), chat, generation);
}

Answer<void> SetChatPrompt(const ChatTemplate& chat_template, const ChatRequest& chat,
                           Generation& generation) {
  const double start_ms = NowMs();
  if (auto tools = PrepareTools(chat_template, chat, generation); !tools) return tools;
  const auto pieces = RenderWithTools(chat_template, chat);
  if (!pieces) return Refusal(pieces.error());
  const double rendered_ms = NowMs();
  GenerateRequest& request = generation.request;
  request.prompt = EncodePieces(generation.model->model(), *pieces);
  EncodeAnswerStart(generation.model->model(), chat, request.prompt);
  generation.preparation.template_ms += rendered_ms - start_ms;
  generation.preparation.tokenize_ms += NowMs() - rendered_ms;
  ContextPolicy& policy = generation.context_policy;
  if (policy.kind != ContextPolicy::Kind::kKeepLast || Fits(generation)) return {};
  policy.kind = ContextPolicy::Kind::kError;  // what is left has to fit
  const std::size_t before = request.prompt.size();
  auto kept = SetChatPrompt(chat_template, KeepLast(chat, policy.last), generation);
  if (!kept) return kept;
  request.dropped = static_cast<std::int64_t>(before - request.prompt.size());
  return {};
}

Answer<void> CheckLength(Call& call, Generation& generation) {
  GenerateRequest& request = generation.request;
  const std::int64_t most = call.service.options.max_prompt_tokens;
  const std::int64_t context = ContextOf(generation);
  const auto length = static_cast<std::int64_t>(request.prompt.size());
  if (most > 0 && length > most) return OverLimit(length, most);
  for (const std::vector<TokenId>& prompt : generation.more_prompts) {
    const auto more = static_cast<std::int64_t>(prompt.size());
    if (most > 0 && more > most) return OverLimit(more, most);
    if (more >= context) return TooLong(more, context);
  }
  request.shift = generation.context_policy.kind == ContextPolicy::Kind::kShift;
  if (request.keep < 0) request.keep = length;  // the whole prompt, as far as it may stay
  if (Fits(generation)) return {};
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
  const std::int64_t answers =
      generation.choices * static_cast<std::int64_t>(1 + generation.more_prompts.size());
  const std::int64_t most = std::max<std::int64_t>(generation.model->engine().options().max_waiting,
                                                   call.service.options.max_choices);
  if (answers > most) {
    return RefuseInput(
        fmt::format("the request asks for {} answers, allowed is up to {}", answers, most));
  }
  if (generation.context > 0 && !generation.request.shift) {
    const std::int64_t room =
        ContextOf(generation) - static_cast<std::int64_t>(generation.request.prompt.size());
    std::int64_t& max_tokens = generation.request.max_tokens;
    max_tokens = max_tokens < 0 ? room : std::min(max_tokens, room);
  }
  generation.request.owner = http::ApiKeys::NumberOf(call.request.api_key);
  const auto reply = std::make_shared<Reply>(call, std::move(generation), std::move(format));
  return reply->Start();
}

}  // namespace vivace
