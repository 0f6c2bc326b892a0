#include "api/anthropic_fields.h"

#include <utility>

#include <fmt/format.h>

namespace vivace {
namespace {

// What a message's blocks come to.
struct Blocks {
  std::string text;
  Json tool_calls;
  std::vector<Message> tool_results;
};

std::string TypeIn(const Json& object) {
  const auto type = object.is_object() ? object.find("type") : object.end();
  return object.is_object() && type != object.end() && type->is_string() ? type->get<std::string>()
                                                                         : "";
}

Refusal Wrong(const std::string& where, std::string_view problem) {
  return RefuseInput(fmt::format("{}: {}", where, problem));
}

// A string, or an array of text blocks.
Answer<std::string> ReadTexts(const Json& content, const std::string& where) {
  if (content.is_null()) return std::string();
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return Wrong(where, "expected a string or an array of blocks");
  std::string text;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const std::string type = TypeIn(content[i]);
    const auto found = type == "text" ? content[i].find("text") : content[i].end();
    if (type != "text" || found == content[i].end() || !found->is_string()) {
      return Wrong(fmt::format("{}[{}]", where, i),
                   fmt::format("blocks of type \"{}\" are not supported here, only \"text\"",
                               type.substr(0, 40)));
    }
    text += found->get_ref<const std::string&>();
  }
  return text;
}

Answer<void> ReadToolUse(const Json& block, const std::string& where, Blocks& blocks) {
  Fields fields(block, where + ".");
  const std::string name = fields.Text("name");
  const Json* input = fields.Object("input");
  if (name.empty()) fields.Reject("name", "needed, the name of a tool");
  Json call = {
      {"id", fields.Text("id")},
      {"type", "function"},
      {"function", {{"name", name}, {"arguments", input == nullptr ? Json::object() : *input}}}};
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  blocks.tool_calls.push_back(std::move(call));
  return {};
}

Answer<void> ReadToolResult(const Json& block, const std::string& where, Blocks& blocks) {
  Fields fields(block, where + ".");
  const std::string id = fields.Text("tool_use_id");
  if (id.empty()) fields.Reject("tool_use_id", "needed, the id of a tool_use block");
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  const Json* content = fields.Find("content");
  auto text = content == nullptr ? std::string() : ReadTexts(*content, where + ".content");
  if (!text) return Refusal(std::move(text).error());
  blocks.tool_results.push_back({.role = "tool", .content = std::move(*text), .tool_call_id = id});
  return {};
}

Answer<void> ReadBlock(const Json& block, const std::string& where, Blocks& blocks) {
  const std::string type = TypeIn(block);
  if (type == "text") {
    auto text = ReadTexts(Json::array({block}), where);
    if (!text) return Refusal(std::move(text).error());
    blocks.text += *text;
    return {};
  }
  if (type == "tool_use") return ReadToolUse(block, where, blocks);
  if (type == "tool_result") return ReadToolResult(block, where, blocks);
  // Of earlier answers; no template shows them again.
  if (type == "thinking" || type == "redacted_thinking") return {};
  return Wrong(where, fmt::format("blocks of type \"{}\" are not supported, only text, tool_use "
                                  "and tool_result",
                                  type.substr(0, 40)));
}

Answer<Blocks> ReadContent(const Json& content, const std::string& where) {
  Blocks blocks;
  if (content.is_string()) {
    blocks.text = content.get<std::string>();
    return blocks;
  }
  if (!content.is_array()) return Wrong(where, "expected a string or an array of blocks");
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto read = ReadBlock(content[i], fmt::format("{}[{}]", where, i), blocks);
    if (!read) return Refusal(read.error());
  }
  return blocks;
}

// One message may become several: a tool's results are messages of their own.
Answer<void> ReadMessage(const Json& object, const std::string& where,
                         std::vector<Message>& messages) {
  if (!object.is_object() || !NestsWithin(object)) {
    return Wrong(where, fmt::format("expected an object, nested up to {} deep", kMaxJsonDepth));
  }
  Fields fields(object, where + ".");
  const std::string role = fields.Text("role");
  if (role != "user" && role != "assistant" && role != "system") {
    fields.Reject(
        "role", fmt::format("\"{}\" is unknown, allowed is user or assistant", role.substr(0, 40)));
  }
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  const Json* content = fields.Find("content");
  if (content == nullptr) return Wrong(where + ".content", "needed, a string or blocks");
  auto blocks = ReadContent(*content, where + ".content");
  if (!blocks) return Refusal(std::move(blocks).error());
  const bool results_only = !blocks->tool_results.empty() && blocks->text.empty();
  for (Message& result : blocks->tool_results) messages.push_back(std::move(result));
  if (results_only) return {};
  messages.push_back({.role = role,
                      .content = std::move(blocks->text),
                      .tool_calls = std::move(blocks->tool_calls)});
  return {};
}

Answer<Json> ReadTools(Fields& fields) {
  Json tools;
  const Json* given = fields.Array("tools");
  if (given == nullptr) return tools;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const Json& tool = (*given)[i];
    const std::string where = fmt::format("tools[{}]", i);
    if (!tool.is_object() || !NestsWithin(tool)) {
      return Wrong(where, fmt::format("expected an object, nested up to {} deep", kMaxJsonDepth));
    }
    Fields tool_fields(tool, where + ".");
    const std::string type = tool_fields.Text("type", "custom");
    if (type != "custom") {
      tool_fields.Reject("type", fmt::format("\"{}\" is not available, only tools of one's own",
                                             type.substr(0, 40)));
    }
    if (tool_fields.IsEmpty("name")) tool_fields.Reject("name", "needed");
    Json function = {{"name", tool_fields.Text("name")},
                     {"description", tool_fields.Text("description")}};
    const Json* schema = tool_fields.Object("input_schema");
    function["parameters"] = schema == nullptr ? Json::object() : *schema;
    if (const auto status = tool_fields.status(); !status) return Refusal(status.error());
    tools.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  const Json* choice = fields.Object("tool_choice");
  const std::string type = choice == nullptr ? "auto" : TypeIn(*choice);
  if (type == "none") return Json();
  if (type == "any" || type == "tool") {
    return NotSupported("tool_choice: only \"auto\" and \"none\" are available");
  }
  if (type != "auto") return Wrong("tool_choice.type", "allowed is auto, none, any, tool");
  return tools;
}

}  // namespace

Answer<AnthropicChat> ReadAnthropicChat(Fields& fields) {
  AnthropicChat result;
  ChatRequest& chat = result.chat;
  if (const Json* system = fields.Find("system")) {
    auto text = ReadTexts(*system, "system");
    if (!text) return Refusal(std::move(text).error());
    if (!text->empty()) chat.messages.push_back({.role = "system", .content = std::move(*text)});
  }
  const Json* messages = fields.Array("messages");
  if (messages == nullptr || messages->empty()) fields.Reject("messages", "at least one is needed");
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  for (std::size_t i = 0; i < messages->size(); ++i) {
    const auto read = ReadMessage((*messages)[i], fmt::format("messages[{}]", i), chat.messages);
    if (!read) return Refusal(read.error());
  }
  auto tools = ReadTools(fields);
  if (!tools) return Refusal(std::move(tools).error());
  chat.tools = std::move(*tools);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  const Message& last = chat.messages.back();
  if (last.role == "assistant" && last.tool_calls.is_null()) {
    result.prefill = last.content;
    chat.messages.pop_back();
  }
  return result;
}

Answer<void> RefuseAnthropicExtras(Fields& fields) {
  if (const Json* thinking = fields.Object("thinking")) {
    // "adaptive" leaves it to the model, and no model here does.
    const std::string type = TypeIn(*thinking);
    if (type != "disabled" && type != "adaptive") {
      return RefuseInput(fmt::format(
          "thinking.type: \"{}\" is not supported by this model, allowed is disabled, adaptive",
          type.substr(0, 40)));
    }
  }
  for (const char* name : {"mcp_servers", "container"}) {
    if (!fields.IsEmpty(name)) return NotSupported(fmt::format("{}: not available", name));
  }
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return {};
}

}  // namespace vivace
