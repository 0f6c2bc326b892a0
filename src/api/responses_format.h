// Answers in the form of OpenAI's responses: items of text and of calls, and the typed events
// of their streams.
#pragma once

#include <memory>

#include "api/reply.h"

namespace vivace {

// `body` is the request's: an answer repeats some of its fields.
std::unique_ptr<ReplyFormat> MakeResponsesFormat(const Json& body);

}  // namespace vivace
