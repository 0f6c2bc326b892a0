#include "api/chat_fields.h"

#include <utility>

#include <fmt/format.h>

#include "api/tool_fields.h"

namespace vivace {

namespace {

// With "continue_final_message" the last message is an answer that goes on.
void ReadContinuation(Fields& fields, ChatRequest& chat) {
  constexpr const char* kName = "continue_final_message";
  if (!fields.Bool(kName, false)) return;
  if (fields.Has("add_generation_prompt") && chat.add_generation_prompt) {
    return fields.Reject("add_generation_prompt",
                         "true begins an answer, and continue_final_message goes on with one");
  }
  Message& last = chat.messages.back();
  if (last.role != "assistant") {
    return fields.Reject(kName, fmt::format("the last message is of the role \"{}\", allowed is "
                                            "assistant",
                                            last.role.substr(0, 40)));
  }
  if (!last.tool_calls.is_null()) {
    return fields.Reject(kName, "the last message has tool calls and cannot go on");
  }
  chat.answer_start = std::move(last.content);
  chat.messages.pop_back();
  chat.add_generation_prompt = true;
}

}  // namespace

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
  ReadContinuation(fields, chat);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return chat;
}

}  // namespace vivace
