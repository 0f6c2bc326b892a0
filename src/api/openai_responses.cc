// POST /v1/responses
#include <utility>

#include "api/chat_fields.h"
#include "api/endpoints.h"
#include "api/generation.h"
#include "api/openai_form.h"
#include "api/reply.h"
#include "api/structure_fields.h"

namespace vivace {
namespace {

class ResponsesFormat : public ReplyFormat {
 public:
  explicit ResponsesFormat(const Json& body) {
    for (const char* name :
         {"instructions", "metadata", "temperature", "top_p", "max_output_tokens", "user"}) {
      const auto found = body.find(name);
      echo_[name] = found == body.end() ? Json() : *found;
    }
  }

  http::Response Whole(std::span<const Outcome> outcomes) override {
    return JsonResponse(Finished(outcomes.front()));
  }

  void Begin(std::string& out) override {
    for (const char* type : {"response.created", "response.in_progress"}) {
      Add(type, {{"response", Body("in_progress", Json::array())}}, out);
    }
    Add("response.output_item.added",
        {{"output_index", 0}, {"item", Item("in_progress", Json::array())}}, out);
    Add("response.content_part.added", Place({{"part", TextPart("")}}), out);
  }

  void Next(const Part& part, std::string& out) override {
    Add("response.output_text.delta", Place({{"delta", part.text}, {"logprobs", Json::array()}}),
        out);
  }

  void End(const Outcome& outcome, std::string& out) override {
    Add("response.output_text.done", Place({{"text", outcome.text}, {"logprobs", Json::array()}}),
        out);
    Add("response.content_part.done", Place({{"part", TextPart(outcome.text)}}), out);
    Add("response.output_item.done",
        {{"output_index", 0},
         {"item", Item(Status(outcome), Json::array({TextPart(outcome.text)}))}},
        out);
    const bool whole = outcome.reason != FinishReason::kLength;
    Add(whole ? "response.completed" : "response.incomplete", {{"response", Finished(outcome)}},
        out);
  }

  void Fail(const ApiError& error, std::string& out) override {
    Add("error", {{"code", error.type}, {"message", error.message}, {"param", nullptr}}, out);
  }

 private:
  static const char* Status(const Outcome& outcome) {
    return outcome.reason == FinishReason::kLength ? "incomplete" : "completed";
  }
  static Json TextPart(std::string_view text) {
    return {{"type", "output_text"},
            {"annotations", Json::array()},
            {"logprobs", Json::array()},
            {"text", text}};
  }
  Json Item(const char* status, Json content) const {
    return {{"id", item_id_},
            {"type", "message"},
            {"status", status},
            {"role", "assistant"},
            {"content", std::move(content)}};
  }
  Json Place(Json fields) const {
    Json json = {{"item_id", item_id_}, {"output_index", 0}, {"content_index", 0}};
    json.update(fields);
    return json;
  }

  Json Body(const char* status, Json output) const {
    Json body = {{"id", id_},
                 {"object", "response"},
                 {"created_at", created_},
                 {"status", status},
                 {"error", nullptr},
                 {"incomplete_details", nullptr},
                 {"model", generation().model_name()},
                 {"output", std::move(output)},
                 {"parallel_tool_calls", false},
                 {"tool_choice", "auto"},
                 {"tools", Json::array()},
                 {"store", false},
                 {"text", {{"format", {{"type", "text"}}}}},
                 {"usage", nullptr}};
    body.update(echo_);
    return body;
  }

  Json Finished(const Outcome& outcome) const {
    Json body = Body(Status(outcome),
                     Json::array({Item(Status(outcome), Json::array({TextPart(outcome.text)}))}));
    if (outcome.reason == FinishReason::kLength) {
      body["incomplete_details"] = {{"reason", "max_output_tokens"}};
    }
    const GenerateTimings& timings = outcome.timings;
    body["usage"] = {{"input_tokens", timings.prompt_tokens},
                     {"input_tokens_details", {{"cached_tokens", timings.cached_tokens}}},
                     {"output_tokens", timings.decoded_tokens},
                     {"output_tokens_details", {{"reasoning_tokens", 0}}},
                     {"total_tokens", timings.prompt_tokens + timings.decoded_tokens}};
    body["timings"] = TimingsJson(timings, generation().preparation);
    return body;
  }

  void Add(const char* type, Json fields, std::string& out) {
    Json event = {{"type", type}, {"sequence_number", sequence_number_++}};
    event.update(fields);
    out += http::Event(Dump(event), type);
  }

  const std::string id_ = NewId("resp_");
  const std::string item_id_ = NewId("msg_");
  const std::int64_t created_ = UnixSeconds();
  Json echo_ = Json::object();
  std::int64_t sequence_number_ = 0;
};

// The parts of an item's content in the form that messages have.
Answer<Json> ContentOf(const Json& content) {
  if (!content.is_array()) return content;
  Json parts = Json::array();
  for (const Json& part : content) {
    const std::string type = part.is_object() ? TextIn(part, "type") : "";
    if (type != "input_text" && type != "output_text" && type != "text") {
      return NotSupported("input: parts of type \"" + type.substr(0, 40) +
                          "\" are not available, only text");
    }
    parts.push_back({{"type", "text"}, {"text", part.contains("text") ? part["text"] : Json()}});
  }
  return parts;
}

Answer<void> AddItem(const Json& item, Json& messages) {
  if (!item.is_object()) return RefuseInput("input: expected text or an array of objects");
  const auto type = item.find("type");
  if (type != item.end() && *type == "function_call") {
    messages.push_back(
        {{"role", "assistant"},
         {"content", nullptr},
         {"tool_calls",
          {{{"id", TextIn(item, "call_id")},
            {"type", "function"},
            {"function",
             {{"name", TextIn(item, "name")}, {"arguments", TextIn(item, "arguments")}}}}}}});
    return {};
  }
  if (type != item.end() && *type == "function_call_output") {
    messages.push_back({{"role", "tool"},
                        {"tool_call_id", TextIn(item, "call_id")},
                        {"content", item.contains("output") ? item["output"] : Json()}});
    return {};
  }
  if (type != item.end() && *type == "reasoning") return {};  // nothing that a model reads
  if (type != item.end() && *type != "message") {
    return NotSupported("input: items of type " + Dump(*type).substr(0, 40) + " are not available");
  }
  auto content = ContentOf(item.contains("content") ? item["content"] : Json());
  if (!content) return Refusal(std::move(content).error());
  Json role = item.contains("role") ? item["role"] : Json();
  if (role == "developer") role = "system";
  messages.push_back({{"role", std::move(role)}, {"content", std::move(*content)}});
  return {};
}

// "instructions" and "input" as messages.
Answer<ChatRequest> ReadInput(Fields& fields) {
  Json messages = Json::array();
  if (const std::string system = fields.Text("instructions"); !system.empty()) {
    messages.push_back({{"role", "system"}, {"content", system}});
  }
  const Json* input = fields.Find("input");
  if (input == nullptr) return RefuseInput("input: needed, text or an array of items");
  if (input->is_string()) {
    messages.push_back({{"role", "user"}, {"content", *input}});
  } else if (input->is_array()) {
    for (const Json& item : *input) {
      if (const auto added = AddItem(item, messages); !added) return Refusal(added.error());
    }
  } else {
    return RefuseInput("input: expected text or an array of items");
  }
  ChatRequest chat;
  auto parsed = ParseMessages(messages);
  if (!parsed) return Refusal(std::move(parsed).error());
  if (parsed->empty()) return RefuseInput("input: empty, at least one item is needed");
  chat.messages = std::move(*parsed);
  return chat;
}

// Tools in the flat form of this endpoint, made those of chat completions.
Answer<Json> ReadFlatTools(Fields& fields) {
  Json tools = Json::array();
  const Json* flat = fields.Array("tools");
  if (flat == nullptr) return Json();
  for (const Json& tool : *flat) {
    if (!tool.is_object() || TextIn(tool, "type") != "function") {
      return NotSupported("tools: only those of type \"function\" are available");
    }
    Json function = tool;
    function.erase("type");
    tools.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  auto checked = ParseTools(tools);
  if (!checked) return Refusal(std::move(checked).error());
  return std::move(*checked);
}

Answer<void> RefuseState(Fields& fields) {
  for (const char* name : {"previous_response_id", "conversation", "prompt"}) {
    if (!fields.Has(name)) continue;
    return NotSupported(std::string(name) + ": answers are not stored here, send all of the input");
  }
  if (fields.Bool("background", false)) return NotSupported("background: not available");
  return RefuseStructure(fields);
}

Answer<void> Responses(Call& call) {
  Fields fields(call.body);
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  if (const auto plain = RefuseState(fields); !plain) return plain;
  auto chat = ReadInput(fields);
  if (!chat) return Refusal(std::move(chat).error());
  auto tools = ReadFlatTools(fields);
  if (!tools) return Refusal(std::move(tools).error());
  chat->tools = std::move(*tools);
  Generation generation = {.model = std::move(*model), .request = {}};
  ReadGeneration(call, fields, generation);
  if (const auto form = ReadResponsesStructure(fields, generation); !form) return form;
  generation.choices = 1;
  generation.request.max_tokens =
      fields.Integer("max_output_tokens", generation.request.max_tokens, 1, std::int64_t{1} << 30);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (const auto prompt = SetChatPrompt(*chat, generation); !prompt) return prompt;
  return Start(call, std::move(generation), std::make_unique<ResponsesFormat>(call.body));
}

}  // namespace

void AddOpenAiResponses(http::Router& router, Service& service) {
  router.Add("POST", "/v1/responses", JsonEndpoint(service, Responses));
}

}  // namespace vivace
