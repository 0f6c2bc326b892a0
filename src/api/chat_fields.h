// The fields of a conversation in OpenAI's form: messages, tools, template variables.
#pragma once

#include "api/errors.h"
#include "api/fields.h"
#include "chat/chat_request.h"

namespace vivace {

// Reads "messages", "tools", "chat_template_kwargs", "add_generation_prompt". 400 says
// which message is wrong.
Answer<ChatRequest> ReadChat(Fields& fields);

// 501 where a call of a tool must come, which cannot be enforced.
Answer<void> RefuseStructure(Fields& fields);

}  // namespace vivace
