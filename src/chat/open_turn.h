// Prompts whose last message is not finished: the beginning that stays as it is whatever
// comes next.
#pragma once

#include <vector>

#include "base/result.h"
#include "chat/chat_template.h"

namespace vivace {

// The pieces of the conversation up to the end of the last message's content, or, where
// `with_content` is false, up to its beginning. Space at the content's ends is left out, as
// templates may trim it. Empty where the template does not write the content as it is.
Result<std::vector<PromptPiece>> RenderOpenTurn(const ChatTemplate& chat, ChatRequest request,
                                                bool with_content);

}  // namespace vivace
