// The fields of Anthropic's requests, brought into the form that chat templates read.
#pragma once

#include <string>

#include "api/errors.h"
#include "api/fields.h"
#include "chat/chat_request.h"

namespace vivace {

struct AnthropicChat {
  ChatRequest chat;
  // The beginning of the answer, where the last message is the assistant's.
  std::string prefill;
};

// Reads "system", "messages", "tools", "tool_choice". 400 says which block or tool is wrong.
Answer<AnthropicChat> ReadAnthropicChat(Fields& fields);

// 400 and 501 for what would change the answer and is not there: thinking that is switched
// on, a form for the answer.
Answer<void> RefuseAnthropicExtras(Fields& fields);

}  // namespace vivace
