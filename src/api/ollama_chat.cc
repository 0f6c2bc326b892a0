// POST /api/chat
#include <utility>

#include <fmt/format.h>

#include "api/endpoints.h"
#include "api/ollama_form.h"
#include "api/tool_fields.h"

namespace vivace {
namespace {

// What templates know under another name, or not at all.
Answer<void> AdaptMessage(std::size_t index, Message& message) {
  if (const auto images = message.extra.find("images"); images != message.extra.end()) {
    if (!images->is_array() || !images->empty()) {
      return RefuseInput(fmt::format("messages[{}].images: the model reads text only", index));
    }
    message.extra.erase(images);
  }
  const auto tool = message.extra.find("tool_name");
  if (tool != message.extra.end() && tool->is_string() && message.name.empty()) {
    message.name = tool->get<std::string>();
  }
  const auto thinking = message.extra.find("thinking");
  if (thinking != message.extra.end()) {
    Json thoughts = std::move(*thinking);
    message.extra.erase(thinking);
    if (thoughts.is_string() && !thoughts.get_ref<const std::string&>().empty())
      message.extra["reasoning_content"] = std::move(thoughts);
  }
  return {};
}

Answer<ChatRequest> ReadConversation(Fields& fields) {
  ChatRequest chat;
  auto messages = ParseMessages(*fields.Find("messages"));
  if (!messages) return Refusal(std::move(messages).error());
  chat.messages = std::move(*messages);
  for (std::size_t i = 0; i < chat.messages.size(); ++i) {
    if (auto adapted = AdaptMessage(i, chat.messages[i]); !adapted) {
      return Refusal(std::move(adapted).error());
    }
  }
  if (auto tools = ReadTools(fields, chat); !tools) return Refusal(std::move(tools).error());
  return chat;
}

Answer<void> Chat(Call& call) {
  Fields fields(call.body);
  const Json* messages = fields.Find("messages");
  if (messages == nullptr || (messages->is_array() && messages->empty())) {
    return LoadOrUnload(call, fields, OllamaKind::kChat);
  }
  auto request = ReadOllamaRequest(call, fields);
  if (!request) return Refusal(std::move(request).error());
  const auto chat = ReadConversation(fields);
  if (!chat) return Refusal(chat.error());
  if (const auto prompt = SetChatPrompt(*chat, request->generation); !prompt) return prompt;
  return StartOllama(call, std::move(*request), OllamaKind::kChat);
}

}  // namespace

void AddOllamaChat(http::Router& router, Service& service) {
  router.Add("POST", "/api/chat", JsonEndpoint(service, Chat));
}

}  // namespace vivace
