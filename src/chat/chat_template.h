// ChatTemplate: turns a conversation into the pieces of a prompt.
//
// The template is the model's own, Jinja as Hugging Face transformers renders it,
// or a built-in one. Text from messages, tools and variables never becomes a
// control token, whatever it contains and however the template treats it; see
// control_texts.h. Immutable after Compile; Render is safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/builtin_templates.h"
#include "chat/chat_request.h"
#include "chat/control_texts.h"
#include "chat/template_engine.h"

namespace vivace {

class ChatTemplate {
 public:
  // Compiles the Jinja `source` of a model or of a built-in. Takes about 0.1 ms, so
  // call it when a conversation first needs it. kBadInput says on which line the
  // template is wrong. In a build without the template engine only the sources of
  // built-ins compile, the others are kUnsupported.
  static Result<ChatTemplate> Compile(std::string source, TemplateTokens tokens);

  // The prompt of a conversation. kBadInput when the template refuses it (with its
  // message) or fails, and when a text is not UTF-8.
  Result<std::vector<PromptPiece>> Render(const ChatRequest& request) const;

  const std::string& source() const { return source_; }

 private:
  ChatTemplate(std::string source, TemplateTokens tokens);

  Result<std::string> RenderText(const ChatRequest& broken, char32_t marker) const;

  std::string source_;
  TemplateTokens tokens_;
  ControlTexts controls_;
  // One of the two is set.
  std::unique_ptr<TemplateEngine> engine_;
  const BuiltinTemplate* builtin_ = nullptr;
};

}  // namespace vivace
