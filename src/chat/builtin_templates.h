// The chat templates that vivace knows by name, for models that bring none.
//
// Each exists as Jinja text, and as a function for builds without the template
// engine; a test holds the two together. Constant data; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "chat/chat_request.h"

namespace vivace {

struct BuiltinTemplate {
  std::string_view name;
  std::string_view source;
  // Appends what rendering `source` gives.
  void (*write)(const ChatRequest& request, const TemplateTokens& tokens, std::string& prompt);
};

// chatml, smollm, llama2, llama3, gemma, plain.
std::span<const BuiltinTemplate> BuiltinTemplates();

std::string BuiltinNames();  // "chatml, smollm, ..."

// Null if there is none of this name.
const BuiltinTemplate* FindBuiltin(std::string_view name);

// The one that suits a model with these control texts; "plain", which only joins
// the contents, if none does.
const BuiltinTemplate& ChooseBuiltin(std::span<const std::string> control_texts);

}  // namespace vivace
