#include "api/chat_fields.h"

#include <utility>

#include <fmt/format.h>

namespace vivace {

Answer<ChatRequest> ReadChat(Fields& fields) {
  ChatRequest chat;
  const Json* messages = fields.Find("messages");
  if (messages == nullptr) return RefuseInput("messages: needed, an array of messages");
  auto parsed = ParseMessages(*messages);
  if (!parsed) return Refusal(std::move(parsed).error());
  if (parsed->empty()) return RefuseInput("messages: empty, at least one is needed");
  chat.messages = std::move(*parsed);
  if (const Json* tools = fields.Find("tools")) {
    auto checked = ParseTools(*tools);
    if (!checked) return Refusal(std::move(checked).error());
    chat.tools = std::move(*checked);
  }
  const Json* choice = fields.Find("tool_choice");
  if (choice != nullptr && choice->is_string() && *choice == "none") chat.tools = Json();
  if (const Json* variables = fields.Object("chat_template_kwargs")) chat.variables = *variables;
  chat.add_generation_prompt = fields.Bool("add_generation_prompt", true);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return chat;
}

Answer<void> RefuseStructure(Fields& fields) {
  // A call that must come cannot be enforced yet.
  const Json* choice = fields.Find("tool_choice");
  if (choice != nullptr && *choice != "auto" && *choice != "none") {
    return NotSupported("tool_choice: only \"auto\" and \"none\" are available");
  }
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return {};
}

}  // namespace vivace
