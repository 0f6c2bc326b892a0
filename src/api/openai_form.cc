#include "api/openai_form.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include <fmt/format.h>

#include "base/utf8.h"

namespace vivace {

Json UsageJson(std::span<const Outcome> outcomes) {
  std::int64_t prompt = 0;
  std::int64_t cached = 0;
  std::int64_t completion = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const GenerateTimings& timings = outcomes[i].timings;
    completion += timings.decoded_tokens;
    if (i > 0 && outcomes[i].prompt == outcomes[i - 1].prompt) continue;
    prompt += timings.prompt_tokens;
    cached += timings.cached_tokens;
  }
  return {{"prompt_tokens", prompt},
          {"completion_tokens", completion},
          {"total_tokens", prompt + completion},
          {"prompt_tokens_details", {{"cached_tokens", cached}}}};
}

const char* OpenAiFinish(const Outcome& outcome) {
  if (outcome.reason == FinishReason::kLength) return "length";
  return outcome.calls.empty() ? "stop" : "tool_calls";
}

Json ChatLogprobs(const Tokenizer& tokenizer, std::span<const Choice> steps) {
  const auto entry = [&](TokenId token, double logprob) {
    return Json{{"token", TokenText(tokenizer, token)},
                {"logprob", FiniteLogprob(logprob)},
                {"bytes", TokenBytes(tokenizer, token)}};
  };
  Json content = Json::array();
  for (const Choice& step : steps) {
    Json item = entry(step.token, step.logprob);
    Json top = Json::array();
    for (const TokenLogprob& one : step.top) top.push_back(entry(one.token, one.logprob));
    item["top_logprobs"] = std::move(top);
    content.push_back(std::move(item));
  }
  return {{"content", std::move(content)}};
}

std::string TokenText(const Tokenizer& tokenizer, TokenId token) {
  std::string text;
  AppendRepaired(tokenizer.Piece(token), false, text);
  return text;
}

Json TokenBytes(const Tokenizer& tokenizer, TokenId token) {
  Json bytes = Json::array();
  for (const char c : tokenizer.Piece(token)) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

double FiniteLogprob(double logprob) {
  return std::max(logprob, std::numeric_limits<double>::lowest());
}

bool ReadIncludeUsage(Fields& fields) {
  const Json* options = fields.Object("stream_options");
  if (options == nullptr) return false;
  Fields option_fields(*options, "stream_options.");
  const bool include = option_fields.Bool("include_usage", false);
  if (const auto status = option_fields.status(); !status) {
    fields.Reject("stream_options", status.error().message);
  }
  return include;
}

std::int64_t UnixSeconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace vivace
