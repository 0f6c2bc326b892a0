// POST /apply-template: the prompt that a conversation becomes.
#include "api/chat_fields.h"
#include "api/endpoint.h"
#include "api/endpoints.h"
#include "api/generation.h"
#include "chat/tool_prompt.h"

namespace vivace {
namespace {

Answer<void> ApplyTemplate(Call& call) {
  Fields fields(call.body);
  const auto model = AcquireModel(call, fields);
  if (!model) return Refusal(model.error());
  const auto chat = ReadChat(fields);
  if (!chat) return Refusal(chat.error());
  const auto pieces = RenderWithTools((*model)->chat(), *chat);
  if (!pieces) return Refusal(pieces.error());
  std::string prompt;
  for (const PromptPiece& piece : *pieces) prompt += piece.text;
  prompt += chat->answer_start;
  (void)call.writer.Send(JsonResponse({{"prompt", prompt}}));
  return {};
}

}  // namespace

void AddApplyTemplate(http::Router& router, Service& service) {
  router.Add("POST", "/apply-template", JsonEndpoint(service, ApplyTemplate));
}

}  // namespace vivace
