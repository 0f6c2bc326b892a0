// Prompts: from messages or plain text to token ids.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_template.h"
#include "model/model.h"

namespace vivace {

// The model's chat format. `name` is a built-in template, or "" for the model's own, or
// for the built-in that suits it where it has none.
Result<ChatTemplate> OpenChatTemplate(const Model& model, const std::string& name);

// A template of its own for the model's tokens; `source` is Jinja.
Result<ChatTemplate> CompileChatTemplate(const Model& model, std::string source);

// The ids of what a template rendered. Control pieces become their token; everything else
// is text, whatever it looks like.
std::vector<TokenId> EncodePieces(const Model& model, std::span<const PromptPiece> pieces);

// Appends the ids of how the answer begins: those of a text of its own, as the model would
// have written it.
void EncodeAnswerStart(const Model& model, const ChatRequest& request,
                       std::vector<TokenId>& prompt);

Result<std::vector<TokenId>> ChatPrompt(const Model& model, const ChatTemplate& chat,
                                        const ChatRequest& request);

// The text as it is, with control tokens recognised where `parse_special`, after the
// beginning-of-sequence token where the model wants one.
std::vector<TokenId> RawPrompt(const Model& model, std::string_view text, bool parse_special);

}  // namespace vivace
