// POST /v1/messages, /v1/messages/count_tokens
#include <utility>

#include "api/anthropic_fields.h"
#include "api/endpoints.h"
#include "api/generation.h"
#include "api/new_id.h"
#include "api/openai_form.h"
#include "api/reply.h"
#include "api/sampling_fields.h"
#include "api/structure_fields.h"
#include "chat/json_scanner.h"

namespace vivace {
namespace {

const char* StopReason(const Outcome& outcome) {
  if (outcome.reason == FinishReason::kLength) return "max_tokens";
  if (!outcome.calls.empty()) return "tool_use";
  return outcome.reason == FinishReason::kStopString ? "stop_sequence" : "end_turn";
}

// A call's id as it is known in this dialect.
std::string ToolUseId(const ToolCall& call) {
  return "toolu_" + call.id.substr(call.id.find('_') + 1);
}

Json ToolUse(const ToolCall& call, Json input) {
  return {{"type", "tool_use"},
          {"id", ToolUseId(call)},
          {"name", call.name},
          {"input", std::move(input)}};
}

// Of arguments that are not complete, what is.
Json InputOf(const ToolCall& call) {
  auto input = ParseJson(call.arguments);
  if (!input || !input->is_object()) input = ParseJson(CompletedObject(call.arguments));
  return input ? std::move(*input) : Json::object();
}

class MessagesFormat : public ReplyFormat {
 public:
  explicit MessagesFormat(std::string request_id) : request_id_(std::move(request_id)) {}

  http::Response Whole(std::span<const Outcome> outcomes) override {
    const Outcome& outcome = outcomes.front();
    Json body = Frame(UsageOf(outcome));
    for (const Segment& segment : SegmentsOf(outcome)) {
      body["content"].push_back(segment.call == nullptr
                                    ? Json{{"type", "text"}, {"text", segment.text}}
                                    : ToolUse(*segment.call, InputOf(*segment.call)));
    }
    body["stop_reason"] = StopReason(outcome);
    body["stop_sequence"] = StopSequence(outcome);
    body["timings"] = TimingsJson(outcome.timings, generation().preparation);
    http::Response response = JsonResponse(body);
    response.headers.Set("request-id", request_id_);
    return response;
  }

  http::StreamHead Head() override {
    return {.headers = {{"request-id", request_id_}}, .ping = Ping()};
  }

  void Begin(std::string& out) override {
    // How much of the prompt is cached is told at the end: nobody knows yet.
    Json usage = {{"input_tokens", generation().request.prompt.size()},
                  {"cache_creation_input_tokens", 0},
                  {"cache_read_input_tokens", 0},
                  {"output_tokens", 0}};
    Add("message_start", {{"message", Frame(std::move(usage))}}, out);
    // Where nothing else can come, clients see at once what does.
    if (!generation().tool_calls) OpenText(out);
    out += Ping();
  }

  void Next(const Part& part, std::string& out) override {
    if (part.text.empty()) return;
    if (!text_open_) OpenText(out);
    AddDelta({{"type", "text_delta"}, {"text", part.text}}, out);
  }

  void CallBegins(const Outcome& outcome, std::string& out) override {
    CloseBlock(out);
    OpenBlock(ToolUse(outcome.calls.back(), Json::object()), out);
  }

  void CallGrows(const Outcome& /*outcome*/, std::string_view arguments,
                 std::string& out) override {
    AddDelta({{"type", "input_json_delta"}, {"partial_json", arguments}}, out);
  }

  void CallEnds(const Outcome& /*outcome*/, std::string& out) override { CloseBlock(out); }

  void End(const Outcome& outcome, std::string& out) override {
    CloseBlock(out);
    Add("message_delta",
        {{"delta",
          {{"stop_reason", StopReason(outcome)}, {"stop_sequence", StopSequence(outcome)}}},
         {"usage", UsageOf(outcome)},
         {"timings", TimingsJson(outcome.timings, generation().preparation)}},
        out);
    Add("message_stop", Json::object(), out);
  }

  void Fail(const ApiError& error, std::string& out) override {
    out += http::Event(Dump(ErrorJson(Dialect::kAnthropic, error)), "error");
  }

 private:
  static std::string Ping() { return http::Event(Dump({{"type", "ping"}}), "ping"); }

  static void Add(const char* type, Json fields, std::string& out) {
    Json event = {{"type", type}};
    event.update(fields);
    out += http::Event(Dump(event), type);
  }

  void OpenBlock(Json block, std::string& out) {
    Add("content_block_start", {{"index", block_}, {"content_block", std::move(block)}}, out);
    block_open_ = true;
  }

  void OpenText(std::string& out) {
    OpenBlock({{"type", "text"}, {"text", ""}}, out);
    text_open_ = true;
  }

  void AddDelta(Json delta, std::string& out) const {
    Add("content_block_delta", {{"index", block_}, {"delta", std::move(delta)}}, out);
  }

  void CloseBlock(std::string& out) {
    if (!block_open_) return;
    Add("content_block_stop", {{"index", block_++}}, out);
    block_open_ = text_open_ = false;
  }

  static Json StopSequence(const Outcome& outcome) {
    if (StopReason(outcome) != std::string_view("stop_sequence")) return nullptr;
    return outcome.stopping_word;
  }

  // Tokens that were read from the cache are not counted as input here.
  static Json UsageOf(const Outcome& outcome) {
    const GenerateTimings& t = outcome.timings;
    return {{"input_tokens", t.prompt_tokens - t.cached_tokens},
            {"cache_creation_input_tokens", 0},
            {"cache_read_input_tokens", t.cached_tokens},
            {"output_tokens", t.decoded_tokens}};
  }

  Json Frame(Json usage) const {
    return {{"id", id_},
            {"type", "message"},
            {"role", "assistant"},
            {"model", generation().model_name()},
            {"content", Json::array()},
            {"stop_reason", nullptr},
            {"stop_sequence", nullptr},
            {"usage", std::move(usage)}};
  }

  const std::string id_ = NewId("msg_");
  const std::string request_id_;
  std::int64_t block_ = 0;  // of the stream: the one that is open or comes next
  bool block_open_ = false;
  bool text_open_ = false;
};

// Everything up to the prompt's ids, which is all that counting needs.
Answer<Generation> ReadRequest(Call& call, Fields& fields) {
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  Generation generation = {.model = std::move(*model), .request = {}, .derived = call.derived};
  if (const auto plain = RefuseAnthropicExtras(fields); !plain) return Refusal(plain.error());
  const auto chat = ReadAnthropicChat(fields);
  if (!chat) return Refusal(chat.error());
  if (const auto form = ReadAnthropicStructure(fields, generation); !form) {
    return Refusal(form.error());
  }
  if (const auto prompt = SetChatPrompt(*chat, generation); !prompt) {
    return Refusal(prompt.error());
  }
  return generation;
}

Answer<void> Messages(Call& call) {
  Fields fields(call.body);
  auto generation = ReadRequest(call, fields);
  if (!generation) return Refusal(std::move(generation).error());
  GenerateRequest& request = generation->request;
  const Tokenizer& tokenizer = generation->model->tokenizer();
  ReadOwnFields(fields, *generation);
  request.sampling = ReadSampling(fields, tokenizer);
  if (!fields.Has("max_tokens")) fields.Reject("max_tokens", "needed, a number of tokens");
  request.max_tokens = fields.Integer("max_tokens", 1, 1, 1 << 30);
  AddStops(tokenizer, fields.Texts("stop_sequences"), request);
  generation->stream = fields.Bool("stream", false);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return Start(call, std::move(*generation), std::make_unique<MessagesFormat>(call.request.id));
}

Answer<void> CountTokens(Call& call) {
  Fields fields(call.body);
  const auto generation = ReadRequest(call, fields);
  if (!generation) return Refusal(generation.error());
  (void)call.writer.Send(JsonResponse({{"input_tokens", generation->request.prompt.size()}}));
  return {};
}

}  // namespace

void AddAnthropic(http::Router& router, Service& service) {
  router.Add("POST", "/v1/messages", JsonEndpoint(service, Messages));
  router.Add("POST", "/v1/messages/count_tokens", JsonEndpoint(service, CountTokens));
}

}  // namespace vivace
