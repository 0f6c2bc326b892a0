// The fields by which requests in OpenAI's form offer tools, and what a tool choice means.
#pragma once

#include <string>

#include "api/errors.h"
#include "api/fields.h"
#include "chat/chat_request.h"

namespace vivace {

// What a dialect's tool choice says, in no dialect.
struct ToolWish {
  enum class Kind : std::uint8_t { kNone, kAuto, kRequired, kNamed };
  Kind kind = Kind::kAuto;
  std::string name = {};  // of kNamed
};

// Reads "tools", "tool_choice" and "parallel_tool_calls". 400 names the tool that is wrong,
// or that is chosen and not there; also for the older "functions".
Answer<void> ReadTools(Fields& fields, ChatRequest& chat);

// The same for tools that were brought into OpenAI's form.
Answer<void> SetTools(const Json& tools, const ToolWish& wish, ChatRequest& chat);

// "tool_choice": "auto", "none", "required", or a function's name in an object, as chat
// completions and responses write it.
Answer<ToolWish> ReadToolChoice(Fields& fields);

}  // namespace vivace
