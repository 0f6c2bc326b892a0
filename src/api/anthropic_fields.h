// The fields of Anthropic's requests, brought into the form that chat templates read.
#pragma once

#include "api/errors.h"
#include "api/fields.h"
#include "chat/chat_request.h"

namespace vivace {

// Reads "system", "messages", "tools", "tool_choice". 400 says which block or tool is wrong.
// A last message of the assistant is how the answer begins.
Answer<ChatRequest> ReadAnthropicChat(Fields& fields);

// 400 and 501 for what would change the answer and is not there: thinking that is switched
// on, a form for the answer.
Answer<void> RefuseAnthropicExtras(Fields& fields);

}  // namespace vivace
