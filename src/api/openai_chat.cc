// POST /v1/chat/completions
#include <utility>

#include "api/chat_fields.h"
#include "api/endpoints.h"
#include "api/generation.h"
#include "api/new_id.h"
#include "api/openai_form.h"
#include "api/reply.h"
#include "api/sampling_fields.h"
#include "api/structure_fields.h"

namespace vivace {
namespace {

class ChatFormat : public ReplyFormat {
 public:
  explicit ChatFormat(bool include_usage) : include_usage_(include_usage) {}

  http::Response Whole(std::span<const Outcome> outcomes) override {
    Json choices = Json::array();
    for (const Outcome& outcome : outcomes) {
      Json choice = {{"index", outcome.index},
                     {"message", MessageOf(outcome)},
                     {"logprobs", nullptr},
                     {"finish_reason", OpenAiFinish(outcome)}};
      if (wants_logprobs()) choice["logprobs"] = ChatLogprobs(tokenizer(), outcome.steps);
      choices.push_back(std::move(choice));
    }
    Json body = Frame("chat.completion", std::move(choices));
    body["usage"] = UsageJson(outcomes);
    body["timings"] = TimingsJson(outcomes.front().timings, generation().preparation);
    return JsonResponse(body);
  }

  void Begin(std::string& out) override {
    for (std::int64_t index = 0; index < generation().choices; ++index) {
      Add(Chunk(index, {{"role", "assistant"}, {"content", ""}}, nullptr), out);
    }
  }

  void Progress(const Outcome& outcome, std::int64_t evaluated, std::string& out) override {
    Json chunk = Chunk(outcome.index, Json::object(), nullptr);
    chunk["prompt_progress"] = {{"total", outcome.timings.prompt_tokens},
                                {"cache", outcome.timings.cached_tokens},
                                {"processed", evaluated},
                                {"time_ms", outcome.timings.prefill_ms}};
    Add(chunk, out);
  }

  void Next(const Part& part, std::string& out) override {
    Json chunk = Chunk(part.outcome.index, {{"content", part.text}}, nullptr);
    if (wants_logprobs()) chunk["choices"][0]["logprobs"] = ChatLogprobs(tokenizer(), part.steps);
    if (timings_per_token) AddTimings(part.outcome, chunk);
    Add(chunk, out);
  }

  void CallBegins(const Outcome& outcome, std::string& out) override {
    Json call = {{"index", outcome.calls.size() - 1}};
    call.update(CallJson(outcome.calls.back()));
    AddCall(outcome, std::move(call), out);
  }

  void CallGrows(const Outcome& outcome, std::string_view arguments, std::string& out) override {
    AddCall(outcome,
            {{"index", outcome.calls.size() - 1}, {"function", {{"arguments", arguments}}}}, out);
  }

  void End(const Outcome& outcome, std::string& out) override {
    Json chunk = Chunk(outcome.index, Json::object(), OpenAiFinish(outcome));
    AddTimings(outcome, chunk);
    Add(chunk, out);
  }

  void Close(std::span<const Outcome> outcomes, std::string& out) override {
    if (include_usage_) {
      Json chunk = Frame("chat.completion.chunk", Json::array());
      chunk["usage"] = UsageJson(outcomes);
      AddTimings(outcomes.front(), chunk);
      Add(chunk, out);
    }
    out += http::Event("[DONE]");
  }

  void Fail(const ApiError& error, std::string& out) override {
    Add(ErrorJson(Dialect::kOpenAi, error), out);
  }

  bool timings_per_token = false;

 private:
  const Tokenizer& tokenizer() const { return generation().model->tokenizer(); }
  bool wants_logprobs() const { return generation().request.logprobs > 0; }

  static Json CallJson(const ToolCall& call) {
    return {{"id", call.id},
            {"type", "function"},
            {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
  }

  static Json MessageOf(const Outcome& outcome) {
    Json message = {{"role", "assistant"}, {"content", outcome.text}};
    if (outcome.calls.empty()) return message;
    if (outcome.text.empty()) message["content"] = nullptr;
    for (const ToolCall& call : outcome.calls) message["tool_calls"].push_back(CallJson(call));
    return message;
  }

  void AddCall(const Outcome& outcome, Json call, std::string& out) const {
    Json chunk = Chunk(outcome.index, {{"tool_calls", Json::array({std::move(call)})}}, nullptr);
    if (timings_per_token) AddTimings(outcome, chunk);
    Add(chunk, out);
  }

  Json Frame(const char* object, Json choices) const {
    return {{"id", id_},
            {"object", object},
            {"created", created_},
            {"model", generation().model_name()},
            {"system_fingerprint", generation().fingerprint},
            {"choices", std::move(choices)}};
  }

  Json Chunk(std::int64_t index, Json delta, const char* finish) const {
    Json choice = {{"index", index}, {"delta", std::move(delta)}, {"finish_reason", nullptr}};
    if (finish != nullptr) choice["finish_reason"] = finish;
    return Frame("chat.completion.chunk", Json::array({std::move(choice)}));
  }

  void AddTimings(const Outcome& outcome, Json& chunk) const {
    chunk["timings"] = TimingsJson(outcome.timings, generation().preparation);
  }

  static void Add(const Json& json, std::string& out) { out += http::Event(Dump(json)); }

  const std::string id_ = NewId("chatcmpl-");
  const std::int64_t created_ = UnixSeconds();
  const bool include_usage_;
};

// How many likely tokens to report: 0 for none at all. The chosen one is always among
// what is reported, so "logprobs" without a number asks for one.
std::size_t ReadLogprobs(Fields& fields) {
  const std::int64_t top = fields.Integer("top_logprobs", 0, 0, 20);
  const bool wanted = fields.Bool("logprobs", false);
  if (!wanted && top > 0) fields.Reject("top_logprobs", "needs \"logprobs\": true");
  return wanted ? static_cast<std::size_t>(std::max<std::int64_t>(top, 1)) : 0;
}

Answer<void> ChatCompletions(Call& call) {
  Fields fields(call.body);
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  Generation generation = {.model = std::move(*model), .request = {}};
  const auto chat = ReadChat(fields);
  if (!chat) return Refusal(chat.error());
  ReadGeneration(call, fields, generation);
  if (const auto form = ReadStructure(fields, generation); !form) return form;
  generation.request.logprobs = ReadLogprobs(fields);
  const bool include_usage = ReadIncludeUsage(fields);
  auto format = std::make_unique<ChatFormat>(include_usage);
  format->timings_per_token = fields.Bool("timings_per_token", false);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (const auto prompt = SetChatPrompt(*chat, generation); !prompt) return prompt;
  return Start(call, std::move(generation), std::move(format));
}

}  // namespace

void AddOpenAiChat(http::Router& router, Service& service) {
  router.Add("POST", "/v1/chat/completions", JsonEndpoint(service, ChatCompletions));
  router.Add("POST", "/chat/completions", JsonEndpoint(service, ChatCompletions));
}

}  // namespace vivace
