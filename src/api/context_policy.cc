#include "api/context_policy.h"

#include <charconv>
#include <utility>

namespace vivace {

std::optional<ContextPolicy> ParseContextPolicy(std::string_view text) {
  constexpr std::string_view kPrefix = "keep-system-last-";
  if (text == "error") return ContextPolicy{};
  if (text == "shift") return ContextPolicy{.kind = ContextPolicy::Kind::kShift};
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  std::int64_t last = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, last);
  if (error != std::errc() || rest != end || last < 1 || last > 10'000) return std::nullopt;
  return ContextPolicy{.kind = ContextPolicy::Kind::kKeepLast, .last = last};
}

ChatRequest KeepLast(const ChatRequest& chat, std::int64_t last) {
  ChatRequest kept = chat;
  kept.messages.clear();
  const auto count = static_cast<std::int64_t>(chat.messages.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const Message& message = chat.messages[static_cast<std::size_t>(i)];
    if (message.role == "system" || i >= count - last) kept.messages.push_back(message);
  }
  return kept;
}

}  // namespace vivace
