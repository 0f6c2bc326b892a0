// The grammar of calls: what a model may write where it calls a tool.
#pragma once

#include <string>

#include "chat/chat_request.h"
#include "chat/tool_prompt.h"
#include "constrain/grammar.h"

namespace vivace {

// What begins a call of the tagged form.
inline constexpr const char* kCallTrigger = "<tool_call>";

// One call or, where the request allows it, several; their arguments follow the schemas of
// their tools. Where a schema is given, a value that follows it may come instead.
// Precondition: the request has tools.
GrammarSource ToolGrammar(const ChatRequest& chat, ToolForm form,
                          const std::string* schema = nullptr);

}  // namespace vivace
