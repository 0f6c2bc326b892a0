#include "chat/message.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace vivace {
namespace {

std::string TypeOf(const Json& value) { return value.type_name(); }

Failure WrongType(std::string_view expected, const Json& value) {
  return Fail(ErrorKind::kBadInput, fmt::format("expected {}, got {}", expected, TypeOf(value)));
}

Result<std::string> ParseText(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::string();
  if (!found->is_string()) return Context(WrongType("a string", *found).value(), key);
  return found->get<std::string>();
}

Result<std::string> ParseContent(const Json& content) {
  if (content.is_null()) return std::string();
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return WrongType("a string, an array of text parts or null", content);
  std::string text;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const Json& part = content[i];
    if (part.is_string()) {
      text += part.get_ref<const std::string&>();
      continue;
    }
    const std::string where = fmt::format("[{}]", i);
    if (!part.is_object()) return Context(WrongType("a text part", part).value(), where);
    const auto type = ParseText(part, "type");
    if (!type) return Context(type.error(), where);
    if (*type != "text") {
      return Fail(ErrorKind::kUnsupported,
                  fmt::format("{}: parts of type \"{}\" are not supported, only \"text\"", where,
                              type->substr(0, 40)));
    }
    const auto part_text = ParseText(part, "text");
    if (!part_text) return Context(part_text.error(), where);
    text += *part_text;
  }
  return text;
}

// Templates print arguments as JSON, so a string with JSON in it would be quoted twice.
void ReadArguments(Json& function) {
  Json& arguments = function["arguments"];
  if (arguments.is_null()) arguments = Json::object();
  if (!arguments.is_string()) return;
  auto parsed = ParseJson(arguments.get_ref<const std::string&>());
  if (parsed && parsed->is_object()) arguments = std::move(*parsed);
}

Result<Json> ParseToolCalls(const Json& calls) {
  if (calls.is_null() || (calls.is_array() && calls.empty())) return Json();
  if (!calls.is_array()) return WrongType("an array", calls);
  Json result = calls;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::string where = fmt::format("[{}]", i);
    Json& call = result[i];
    if (!call.is_object()) return Context(WrongType("an object", call).value(), where);
    const auto function = call.find("function");
    if (function == call.end() || !function->is_object()) {
      return Fail(ErrorKind::kBadInput, where + ": needs a \"function\" object");
    }
    const auto name = ParseText(*function, "name");
    if (!name) return Context(name.error(), where + ".function");
    if (name->empty()) return Fail(ErrorKind::kBadInput, where + ".function: needs a \"name\"");
    ReadArguments(*function);
  }
  return result;
}

Result<Message> ParseMessage(const Json& object) {
  if (!object.is_object()) return WrongType("an object", object);
  Message message;
  const std::array texts{std::pair{"role", &message.role}, std::pair{"name", &message.name},
                         std::pair{"tool_call_id", &message.tool_call_id}};
  for (const auto& [key, field] : texts) {
    auto text = ParseText(object, key);
    if (!text) return Failure(std::move(text).error());
    *field = std::move(*text);
  }
  if (message.role.empty()) return Fail(ErrorKind::kBadInput, "needs a \"role\"");
  for (const auto& [key, value] : object.items()) {
    if (key == "role" || key == "name" || key == "tool_call_id") continue;
    if (key == "content") {
      auto content = ParseContent(value);
      if (!content) return Context(content.error(), key);
      message.content = std::move(*content);
    } else if (key == "tool_calls") {
      auto calls = ParseToolCalls(value);
      if (!calls) return Context(calls.error(), key);
      message.tool_calls = std::move(*calls);
    } else if (!value.is_null()) {
      message.extra[key] = value;
    }
  }
  return message;
}

}  // namespace

Result<std::vector<Message>> ParseMessages(const Json& messages) {
  if (!messages.is_array()) return Context(WrongType("an array", messages).value(), "messages");
  std::vector<Message> result;
  result.reserve(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string where = fmt::format("messages[{}]", i);
    if (!NestsWithin(messages[i])) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("{}: nests deeper than {}", where, kMaxJsonDepth));
    }
    auto message = ParseMessage(messages[i]);
    if (!message) return Context(message.error(), where);
    result.push_back(std::move(*message));
  }
  return result;
}

Json ToJson(const Message& message) {
  Json json = Json::object();
  json["role"] = message.role;
  json["content"] = message.content;
  if (!message.name.empty()) json["name"] = message.name;
  if (!message.tool_calls.is_null()) json["tool_calls"] = message.tool_calls;
  if (!message.tool_call_id.empty()) json["tool_call_id"] = message.tool_call_id;
  if (message.extra.is_object()) {
    for (const auto& [key, value] : message.extra.items()) json.emplace(key, Json(value));
  }
  return json;
}

}  // namespace vivace
