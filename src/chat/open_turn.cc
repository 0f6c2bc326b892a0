#include "chat/open_turn.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/trimmed.h"
#include "chat/tool_prompt.h"

namespace vivace {
Result<std::vector<PromptPiece>> RenderOpenTurn(const ChatTemplate& chat, ChatRequest request,
                                                bool with_content) {
  std::vector<PromptPiece> none;
  if (request.messages.empty()) return none;
  request.add_generation_prompt = false;
  const std::string content = request.messages.back().content;
  const std::string_view wanted = Trimmed(content);
  auto pieces = RenderWithTools(chat, request);
  if (!pieces || wanted.empty()) return pieces.map([&](auto&&) { return none; });
  // The last place is that of the last message, unless the template adds text after it.
  while (!pieces->empty()) {
    PromptPiece& last = pieces->back();
    const std::size_t place = last.control ? std::string::npos : last.text.rfind(wanted);
    if (place != std::string::npos) {
      last.text.resize(place + (with_content ? wanted.size() : 0));
      if (last.text.empty()) pieces->pop_back();
      return pieces;
    }
    pieces->pop_back();
  }
  return none;
}

}  // namespace vivace
