// Tools in prompts, whatever the model's template knows of them.
//
// Templates that know tools show them in the model's own way. For the others, the tools,
// the calls of earlier answers and the tools' results are written as plain text, in the
// form that ToolCallParser reads. Stateless; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_template.h"

namespace vivace {

// Whether a template's source uses the tools of a request.
bool KnowsTools(std::string_view source);

// In what form models with such a template write calls.
enum class ToolForm : std::uint8_t {
  kTagged,  // <tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>
  kBare,    // {"name": "f", "parameters": {}}
};
ToolForm ToolFormOf(std::string_view source);

// What ChatTemplate::Render gives, with tools in it for every template.
Result<std::vector<PromptPiece>> RenderWithTools(const ChatTemplate& chat_template,
                                                 const ChatRequest& request);

}  // namespace vivace
