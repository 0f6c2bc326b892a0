// POST /v1/prefill: evaluates a conversation into the cache before its question is asked.
#include <utility>

#include "api/chat_fields.h"
#include "api/endpoints.h"
#include "api/generation.h"
#include "api/run_all.h"
#include "chat/open_turn.h"
#include "chat/prompt.h"
#include "chat/tool_prompt.h"

namespace vivace {
namespace {

// With "partial" the person still types: the last message's turn is left open.
Answer<std::vector<TokenId>> PromptOf(const ServedModel& model, const ChatRequest& chat,
                                      bool partial) {
  auto pieces =
      partial ? RenderOpenTurn(model.chat(), chat, true) : RenderWithTools(model.chat(), chat);
  if (!pieces) return Refusal(std::move(pieces).error());
  auto prompt = EncodePieces(model.model(), *pieces);
  EncodeAnswerStart(model.model(), chat, prompt);
  return prompt;
}

Answer<void> Prefill(Call& call) {
  Fields fields(call.body);
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  const auto chat = ReadChat(fields);
  if (!chat) return Refusal(chat.error());
  Generation generation = {.model = *model, .request = {}};
  ReadOwnFields(fields, generation);
  const bool partial = fields.Bool("partial", false);
  if (partial && fields.Bool("continue_final_message", false)) {
    fields.Reject("partial", "allowed is one of partial and continue_final_message, not both");
  }
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  auto prompt = PromptOf(**model, *chat, partial);
  if (!prompt) return Refusal(std::move(prompt).error());
  generation.request.prompt = std::move(*prompt);
  generation.request.max_tokens = 0;
  generation.request.priority = Priority::kBackground;
  const auto answer = [writer = call.writer](std::span<const RunResult> results) {
    const GenerateTimings& timings = results.front().timings;
    const bool complete = results.front().reason != FinishReason::kCancelled;
    (void)writer.Send(JsonResponse({{"prompt_tokens", timings.prompt_tokens},
                                    {"cached_tokens", timings.cached_tokens},
                                    {"complete", complete}}));
  };
  if (generation.request.prompt.empty()) {  // nothing is certain yet
    answer(std::vector<RunResult>(1));
    return {};
  }
  if (const auto fits = CheckLength(call, generation); !fits) return fits;
  return RunAll(*model, {std::move(generation.request)}, call.request.stop, answer);
}

}  // namespace

void AddPrefill(http::Router& router, Service& service) {
  router.Add("POST", "/v1/prefill", JsonEndpoint(service, Prefill));
}

}  // namespace vivace
