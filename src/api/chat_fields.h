// The fields of a conversation in OpenAI's form: messages, tools, template variables.
#pragma once

#include "api/errors.h"
#include "api/fields.h"
#include "chat/chat_request.h"

namespace vivace {

// Reads "messages", "tools", "chat_template_kwargs", "add_generation_prompt". 400 says
// which message is wrong.
Answer<ChatRequest> ReadChat(Fields& fields);

// 501 for the fields by which an answer's form is asked for ("response_format", "grammar",
// "json_schema"), unless they ask for text: never a free answer to a bound question.
Answer<void> RefuseStructure(Fields& fields);

}  // namespace vivace
