#include "api/anthropic_fields.h"

#include <utility>

#include <fmt/format.h>

#include "api/tool_fields.h"

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

// One tool in the form that templates know.
Answer<Json> ReadTool(const Json& tool, const std::string& where) {
  if (!tool.is_object() || !NestsWithin(tool)) {
    return Wrong(where, fmt::format("expected an object, nested up to {} deep", kMaxJsonDepth));
  }
  Fields fields(tool, where + ".");
  const std::string type = fields.Text("type", "custom");
  if (type != "custom") {
    fields.Reject("type", fmt::format("\"{}\" is not available, only tools of one's own",
                                      type.substr(0, 40)));
  }
  if (fields.IsEmpty("name")) fields.Reject("name", "needed");
  Json function = {{"name", fields.Text("name")}, {"description", fields.Text("description")}};
  const Json* schema = fields.Object("input_schema");
  function["parameters"] = schema == nullptr ? Json::object() : *schema;
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return Json{{"type", "function"}, {"function", std::move(function)}};
}

Answer<ToolWish> ReadChoice(Fields& fields, ChatRequest& chat) {
  const Json* choice = fields.Object("tool_choice");
  if (choice == nullptr) return ToolWish{};
  Fields choice_fields(*choice, "tool_choice.");
  const std::string type = choice_fields.Text("type");
  ToolWish wish = {.name = choice_fields.Text("name")};
  chat.parallel_tool_calls = !choice_fields.Bool("disable_parallel_tool_use", false);
  if (const auto status = choice_fields.status(); !status) return Refusal(status.error());
  if (type == "none")
    wish.kind = ToolWish::Kind::kNone;
  else if (type == "any")
    wish.kind = ToolWish::Kind::kRequired;
  else if (type == "tool")
    wish.kind = ToolWish::Kind::kNamed;
  else if (type != "auto")
    return Wrong("tool_choice.type", "allowed is auto, none, any, tool");
  if (wish.kind != ToolWish::Kind::kNamed) wish.name.clear();
  return wish;
}

Answer<void> ReadToolsOf(Fields& fields, ChatRequest& chat) {
  Json tools = Json::array();
  const Json* given = fields.Array("tools");
  for (std::size_t i = 0; given != nullptr && i < given->size(); ++i) {
    auto tool = ReadTool((*given)[i], fmt::format("tools[{}]", i));
    if (!tool) return Refusal(std::move(tool).error());
    tools.push_back(std::move(*tool));
  }
  const auto wish = ReadChoice(fields, chat);
  if (!wish) return Refusal(wish.error());
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return SetTools(tools, *wish, chat);
}

}  // namespace

Answer<ChatRequest> ReadAnthropicChat(Fields& fields) {
  ChatRequest chat;
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
  if (auto tools = ReadToolsOf(fields, chat); !tools) return Refusal(std::move(tools).error());
  Message& last = chat.messages.back();
  if (last.role == "assistant" && last.tool_calls.is_null()) {
    chat.answer_start = std::move(last.content);
    chat.messages.pop_back();
  }
  return chat;
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
