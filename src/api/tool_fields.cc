#include "api/tool_fields.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "chat/tool_definitions.h"

namespace vivace {
namespace {

constexpr std::string_view kChoices =
    "\"auto\", \"none\", \"required\", {\"type\": \"function\", \"function\": {\"name\": ...}}";

Refusal WrongChoice(const Json& choice) {
  return RefuseInput(fmt::format("tool_choice: {} is unknown, allowed is {}",
                                 Dump(choice).substr(0, 60), kChoices));
}

Answer<ToolWish> ReadNamed(const Json& choice) {
  const std::string type = TextIn(choice, "type");
  if (type == "allowed_tools") return NotSupported("tool_choice: \"allowed_tools\" not available");
  if (type != "function") return WrongChoice(choice);
  const auto function = choice.find("function");
  const bool nested = function != choice.end() && function->is_object();
  std::string name = TextIn(nested ? *function : choice, "name");
  if (name.empty()) return WrongChoice(choice);
  return ToolWish{.kind = ToolWish::Kind::kNamed, .name = std::move(name)};
}

}  // namespace

Answer<ToolWish> ReadToolChoice(Fields& fields) {
  const Json* choice = fields.Find("tool_choice");
  if (choice == nullptr || *choice == "auto") return ToolWish{};
  if (*choice == "none") return ToolWish{.kind = ToolWish::Kind::kNone};
  if (*choice == "required" || *choice == "any") return ToolWish{.kind = ToolWish::Kind::kRequired};
  if (choice->is_object()) return ReadNamed(*choice);
  return WrongChoice(*choice);
}

Answer<void> SetTools(const Json& tools, const ToolWish& wish, ChatRequest& chat) {
  auto parsed = ParseTools(tools);
  if (!parsed) return Refusal(std::move(parsed).error());
  const bool needed = wish.kind == ToolWish::Kind::kRequired || wish.kind == ToolWish::Kind::kNamed;
  if (needed && parsed->is_null()) return RefuseInput("tool_choice: needs tools to choose from");
  if (wish.kind == ToolWish::Kind::kNamed) {
    const auto names = ToolNames(*parsed);
    if (std::ranges::find(names, wish.name) == names.end()) {
      return RefuseInput(fmt::format("tool_choice: \"{}\" is none of the request's tools",
                                     wish.name.substr(0, 80)));
    }
  }
  if (wish.kind == ToolWish::Kind::kNone) return {};
  chat.tools = std::move(*parsed);
  chat.tool_choice = needed ? ToolChoice::kRequired : ToolChoice::kAuto;
  chat.forced_tool = wish.name;
  return {};
}

Answer<void> ReadTools(Fields& fields, ChatRequest& chat) {
  for (const char* name : {"functions", "function_call"}) {
    if (!fields.IsEmpty(name) && *fields.Find(name) != "none") {
      return RefuseInput(fmt::format("{}: not available, use \"tools\" and \"tool_choice\"", name));
    }
  }
  const auto wish = ReadToolChoice(fields);
  if (!wish) return Refusal(wish.error());
  chat.parallel_tool_calls = fields.Bool("parallel_tool_calls", true);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  const Json* tools = fields.Find("tools");
  return SetTools(tools == nullptr ? Json() : *tools, *wish, chat);
}

}  // namespace vivace
