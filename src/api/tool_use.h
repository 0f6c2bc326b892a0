// How an answer may call the tools of its request.
#pragma once

#include "api/errors.h"
#include "api/generation.h"
#include "chat/chat_request.h"
#include "chat/chat_template.h"

namespace vivace {

// Has calls looked for in the answers of a request with tools, and bound to the schemas of
// the tools. 400 names the tool whose schema cannot be followed; 501 where a call must come
// and this build cannot enforce it.
Answer<void> PrepareTools(const ChatTemplate& chat_template, const ChatRequest& chat,
                          Generation& generation);

}  // namespace vivace
