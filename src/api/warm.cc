#include "api/warm.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/chat_fields.h"
#include "api/run_all.h"
#include "chat/open_turn.h"
#include "chat/prompt.h"

namespace vivace {
namespace {

// The prompt up to where the first question would begin.
Answer<std::vector<TokenId>> PromptOf(const ServedModel& model, const Json& entry) {
  if (!entry.is_object()) return RefuseInput("expected an object");
  Json body = entry;
  if (!body.contains("messages")) body["messages"] = Json::array();
  if (body.contains("system")) {
    Json system = {{"role", "system"}, {"content", body["system"]}};
    body["messages"].insert(body["messages"].begin(), std::move(system));
  }
  body["messages"].push_back({{"role", "user"}, {"content", "x"}});
  Fields fields(body);
  const auto chat = ReadChat(fields);
  if (!chat) return Refusal(chat.error());
  const auto pieces = RenderOpenTurn(model.chat(), *chat, false);
  if (!pieces) return Refusal(pieces.error());
  return EncodePieces(model.model(), *pieces);
}

Refusal InEntry(std::size_t number, const ApiError& error) {
  return RefuseInput(fmt::format("entry {}: {}", number, error.message));
}

}  // namespace

Answer<void> WarmUp(const ModelLease& model) {
  // What nonsense it says tells nothing about later answers.
  GenerateRequest request = {
      .prompt = {0}, .max_tokens = 2, .ignore_end = true, .speculation = false};
  request.sampling.temperature = 0;
  const auto done = RunAndWait(model, {std::move(request)});
  if (!done) return Refusal(done.error());
  return {};
}

Answer<std::int64_t> WarmPrompts(const ModelLease& model, const std::string& text) {
  auto json = ParseJson(text);
  if (!json) return Refusal(std::move(json).error());
  const Json entries = json->is_array() ? std::move(*json) : Json::array({std::move(*json)});
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto prompt = PromptOf(*model, entries[i]);
    if (!prompt) return InEntry(i, prompt.error());
    if (prompt->empty()) continue;
    const auto results = RunAndWait(model, {{.prompt = std::move(*prompt), .max_tokens = 0}});
    if (!results) return InEntry(i, results.error());
    tokens += results->front().timings.prompt_tokens;
  }
  return tokens;
}

}  // namespace vivace
