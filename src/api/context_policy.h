// ContextPolicy: what happens to a request that does not fit into the context.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "chat/chat_request.h"

namespace vivace {

struct ContextPolicy {
  enum class Kind : std::uint8_t {
    kError,     // it is refused
    kShift,     // the older half of what follows the first tokens is forgotten, also later
    kKeepLast,  // a conversation keeps its system messages and its last ones
  };
  Kind kind = Kind::kError;
  std::int64_t last = 0;  // messages that kKeepLast keeps
};

// "error", "shift" or "keep-system-last-N" with N from 1 to 10000; nothing for other texts.
std::optional<ContextPolicy> ParseContextPolicy(std::string_view text);
inline constexpr std::string_view kContextPolicies = "error, shift, keep-system-last-N";

// The conversation without the messages that are neither of the system nor among the last.
ChatRequest KeepLast(const ChatRequest& chat, std::int64_t last);

}  // namespace vivace
