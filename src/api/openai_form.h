// What the answers of OpenAI's endpoints have in common.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/errors.h"
#include "api/reply.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

// Of all choices: each prompt counts once.
Json UsageJson(std::span<const Outcome> outcomes);

// "stop", "length" or "tool_calls".
const char* OpenAiFinish(const Outcome& outcome);

// {"content":[{"token","logprob","bytes","top_logprobs":[...]}]} of chat completions.
Json ChatLogprobs(const Tokenizer& tokenizer, std::span<const Choice> steps);

// A token's text, as valid UTF-8, and its bytes.
std::string TokenText(const Tokenizer& tokenizer, TokenId token);
Json TokenBytes(const Tokenizer& tokenizer, TokenId token);
// JSON has no -inf: the lowest finite number stands for probability zero.
double FiniteLogprob(double logprob);

// "stream_options": {"include_usage": true}.
bool ReadIncludeUsage(Fields& fields);

std::int64_t UnixSeconds();

}  // namespace vivace
