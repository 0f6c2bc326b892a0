// The fields of a conversation in OpenAI's form: messages, tools, template variables.
#pragma once

#include "api/errors.h"
#include "api/fields.h"
#include "chat/chat_request.h"

namespace vivace {

// Reads "messages", the tools, "chat_template_kwargs", "add_generation_prompt" and
// "continue_final_message". 400 says which message or tool is wrong.
Answer<ChatRequest> ReadChat(Fields& fields);

}  // namespace vivace
