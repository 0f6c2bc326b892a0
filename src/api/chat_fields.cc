#include "api/chat_fields.h"

#include <utility>

#include <fmt/format.h>

#include "api/tool_fields.h"

namespace vivace {

Answer<ChatRequest> ReadChat(Fields& fields) {
  ChatRequest chat;
  const Json* messages = fields.Find("messages");
  if (messages == nullptr) return RefuseInput("messages: needed, an array of messages");
  auto parsed = ParseMessages(*messages);
  if (!parsed) return Refusal(std::move(parsed).error());
  if (parsed->empty()) return RefuseInput("messages: empty, at least one is needed");
  chat.messages = std::move(*parsed);
  if (auto tools = ReadTools(fields, chat); !tools) return Refusal(std::move(tools).error());
  if (const Json* variables = fields.Object("chat_template_kwargs")) chat.variables = *variables;
  chat.add_generation_prompt = fields.Bool("add_generation_prompt", true);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return chat;
}

}  // namespace vivace
