#include "chat/untrusted_text.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace vivace {
namespace {

// Some templates write '<|' + role + '|>', so a role must be able to complete a
// control text. These are the names that this is meant for; others are broken up.
constexpr std::array<std::string_view, 9> kKnownRoles{"system",    "developer", "user",
                                                      "assistant", "tool",      "function",
                                                      "model",     "ipython",   "observation"};

void FindMarkersIn(const Json& value, MarkerSet& found) {
  if (value.is_string()) {
    FindMarkers(value.get_ref<const std::string&>(), found);
  } else if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      FindMarkers(key, found);
      FindMarkersIn(item, found);
    }
  } else if (value.is_array()) {
    for (const Json& item : value) FindMarkersIn(item, found);
  }
}

class Breaker {
 public:
  Breaker(const ControlTexts& controls, std::string_view marker)
      : controls_(controls), marker_(marker) {}

  std::string Text(std::string_view text) const {
    return controls_.Break(text, marker_, ControlTexts::Ends::kGuarded);
  }

  std::string Role(const std::string& role) const {
    return std::ranges::find(kKnownRoles, role) != kKnownRoles.end() ? role : Text(role);
  }

  // Keys and values inside JSON are often words that templates look for.
  Json Value(const Json& value) const {
    if (value.is_string()) return Word(value.get_ref<const std::string&>());
    if (value.is_object()) {
      // By pairs: assigning by key would search through all earlier ones.
      Json::object_t object;
      object.reserve(value.size());
      for (const auto& [key, item] : value.items()) {
        object.push_back({Word(key), Value(item)});
      }
      return object;
    }
    if (value.is_array()) {
      Json array = Json::array();
      for (const Json& item : value) array.push_back(Value(item));
      return array;
    }
    return value;
  }

  Message Turn(const Message& message) const {
    return {.role = Role(message.role),
            .content = Text(message.content),
            .name = Text(message.name),
            .tool_call_id = Word(message.tool_call_id),
            .tool_calls = Value(message.tool_calls),
            .extra = Extra(message.extra)};
  }

 private:
  std::string Word(std::string_view text) const {
    return controls_.Break(text, marker_, ControlTexts::Ends::kGuardedUnlessWord);
  }

  // Texts right in a message, such as reasoning_content, are prose like its content.
  Json Extra(const Json& extra) const {
    Json broken = Value(extra);
    if (!extra.is_object()) return broken;
    auto original = extra.begin();
    for (Json& item : broken) {
      if (original->is_string()) item = Text(original->get_ref<const std::string&>());
      ++original;
    }
    return broken;
  }

  const ControlTexts& controls_;
  std::string_view marker_;
};

Result<void> CheckNesting(const Json& value, const char* what) {
  if (NestsWithin(value)) return {};
  return Fail(ErrorKind::kBadInput, fmt::format("{}: nests deeper than {}", what, kMaxJsonDepth));
}

}  // namespace

Result<void> CheckNesting(const ChatRequest& request) {
  VIVACE_RETURN_IF_ERROR(CheckNesting(request.tools, "tools"));
  VIVACE_RETURN_IF_ERROR(CheckNesting(request.variables, "template variables"));
  for (const Message& message : request.messages) {
    VIVACE_RETURN_IF_ERROR(CheckNesting(message.tool_calls, "tool_calls"));
    VIVACE_RETURN_IF_ERROR(CheckNesting(message.extra, "message"));
  }
  return {};
}

void FindMarkers(std::string_view text, MarkerSet& found) {
  // U+FDD0 .. U+FDEF are EF B7 90 .. EF B7 AF.
  for (std::size_t at = text.find("\xEF\xB7"); at != std::string_view::npos;
       at = text.find("\xEF\xB7", at + 2)) {
    if (at + 2 >= text.size()) return;
    const unsigned last = static_cast<unsigned char>(text[at + 2]);
    if (last >= 0x90 && last <= 0xAF) found.set(last - 0x90);
  }
}

void FindMarkers(const ChatRequest& request, MarkerSet& found) {
  for (const Message& message : request.messages) {
    FindMarkers(message.role, found);
    FindMarkers(message.content, found);
    FindMarkers(message.name, found);
    FindMarkers(message.tool_call_id, found);
    FindMarkersIn(message.tool_calls, found);
    FindMarkersIn(message.extra, found);
  }
  FindMarkersIn(request.tools, found);
  FindMarkersIn(request.variables, found);
}

ChatRequest BreakControlTexts(const ChatRequest& request, const ControlTexts& controls,
                              std::string_view marker) {
  const Breaker breaker(controls, marker);
  ChatRequest broken;
  broken.messages.reserve(request.messages.size());
  for (const Message& message : request.messages) broken.messages.push_back(breaker.Turn(message));
  broken.tools = breaker.Value(request.tools);
  broken.add_generation_prompt = request.add_generation_prompt;
  broken.variables = breaker.Value(request.variables);
  broken.local_seconds = request.local_seconds;
  return broken;
}

}  // namespace vivace
