// POST /v1/responses
#include <utility>

#include "api/endpoints.h"
#include "api/generation.h"
#include "api/reply.h"
#include "api/responses_format.h"
#include "api/structure_fields.h"
#include "api/tool_fields.h"

namespace vivace {
namespace {

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

// Calls that follow each other, or an answer's text, are of one turn.
void AddCall(const Json& item, Json& messages) {
  const bool goes_on = !messages.empty() && TextIn(messages.back(), "role") == "assistant";
  if (!goes_on) messages.push_back({{"role", "assistant"}, {"content", nullptr}});
  const Json function = {{"name", TextIn(item, "name")}, {"arguments", TextIn(item, "arguments")}};
  messages.back()["tool_calls"].push_back(
      {{"id", TextIn(item, "call_id")}, {"type", "function"}, {"function", function}});
}

// A member of an item as a message's content.
Answer<Json> ContentIn(const Json& item, const char* name) {
  const auto found = item.find(name);
  if (found == item.end()) return Json();
  return ContentOf(*found);
}

Answer<void> AddMessage(Json message, const Json& item, const char* content, Json& messages) {
  auto read = ContentIn(item, content);
  if (!read) return Refusal(std::move(read).error());
  message["content"] = std::move(*read);
  messages.push_back(std::move(message));
  return {};
}

Answer<void> AddItem(const Json& item, Json& messages) {
  if (!item.is_object()) return RefuseInput("input: expected text or an array of objects");
  Json type = item.contains("type") ? item["type"] : Json();
  if (type.is_null()) type = "message";
  if (type == "function_call") {
    AddCall(item, messages);
    return {};
  }
  if (type == "function_call_output") {
    const Json message = {{"role", "tool"}, {"tool_call_id", TextIn(item, "call_id")}};
    return AddMessage(message, item, "output", messages);
  }
  if (type == "reasoning") return {};  // nothing that a model reads
  if (type != "message") {
    return NotSupported("input: items of type " + Dump(type).substr(0, 40) + " are not available");
  }
  Json role = item.contains("role") ? item["role"] : Json();
  if (role == "developer") role = "system";
  return AddMessage({{"role", std::move(role)}}, item, "content", messages);
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
Answer<void> ReadFlatTools(Fields& fields, ChatRequest& chat) {
  Json tools = Json::array();
  const Json* flat = fields.Array("tools");
  for (std::size_t i = 0; flat != nullptr && i < flat->size(); ++i) {
    const Json& tool = (*flat)[i];
    if (!tool.is_object() || TextIn(tool, "type") != "function") {
      return NotSupported("tools: only those of type \"function\" are available");
    }
    Json function = tool;
    function.erase("type");
    tools.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  const auto wish = ReadToolChoice(fields);
  if (!wish) return Refusal(wish.error());
  chat.parallel_tool_calls = fields.Bool("parallel_tool_calls", true);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return SetTools(tools, *wish, chat);
}

Answer<void> RefuseState(Fields& fields) {
  for (const char* name : {"previous_response_id", "conversation", "prompt"}) {
    if (!fields.Has(name)) continue;
    return NotSupported(std::string(name) + ": answers are not stored here, send all of the input");
  }
  if (fields.Bool("background", false)) return NotSupported("background: not available");
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return {};
}

Answer<void> Responses(Call& call) {
  Fields fields(call.body);
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  if (const auto plain = RefuseState(fields); !plain) return plain;
  auto chat = ReadInput(fields);
  if (!chat) return Refusal(std::move(chat).error());
  if (auto tools = ReadFlatTools(fields, *chat); !tools) return tools;
  Generation generation = {.model = std::move(*model), .request = {}};
  ReadGeneration(call, fields, generation);
  if (const auto form = ReadResponsesStructure(fields, generation); !form) return form;
  generation.choices = 1;
  generation.request.max_tokens =
      fields.Integer("max_output_tokens", generation.request.max_tokens, 1, std::int64_t{1} << 30);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (const auto prompt = SetChatPrompt(*chat, generation); !prompt) return prompt;
  return Start(call, std::move(generation), MakeResponsesFormat(call.body));
}

}  // namespace

void AddOpenAiResponses(http::Router& router, Service& service) {
  router.Add("POST", "/v1/responses", JsonEndpoint(service, Responses));
}

}  // namespace vivace
