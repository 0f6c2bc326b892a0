#include "chat/tool_prompt.h"

#include <algorithm>
#include <string>
#include <utility>

#include "chat/untrusted_text.h"

namespace vivace {
namespace {

std::string Dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Description(const Json& tools) {
  std::string text = "You can call these functions, each described by a JSON schema:\n<tools>";
  for (const Json& tool : tools) text += "\n" + Dumped(tool.at("function"));
  text +=
      "\n</tools>\n\nWhere a function helps, answer with nothing but a call of it, in this "
      "form:\n<tool_call>\n{\"name\": \"the function's name\", \"arguments\": {\"its "
      "argument\": \"a value\"}}\n</tool_call>\nYou get its result in <tool_response> tags. "
      "Where none helps, answer in plain words.";
  return text;
}

std::string WrittenCall(const Json& call) {
  const Json& function = call.at("function");
  const Json written = {{"name", function.at("name")},
                        {"arguments", function.value("arguments", Json::object())}};
  return "<tool_call>\n" + Dumped(written) + "\n</tool_call>";
}

void Append(const std::string& text, std::string& content) {
  if (!content.empty() && !text.empty()) content += "\n";
  content += text;
}

bool HasTurns(const ChatRequest& request) {
  return std::ranges::any_of(request.messages, [](const Message& message) {
    return message.role == "tool" || !message.tool_calls.is_null();
  });
}

// Results in a row are one turn of the user's, as templates may want turns to alternate.
void WriteTurns(std::vector<Message>& messages) {
  std::vector<Message> written;
  bool results = false;  // the last one written is of results
  for (Message& message : messages) {
    if (message.role == "tool") {
      const std::string text = "<tool_response>\n" + message.content + "\n</tool_response>";
      if (!results) written.push_back({.role = "user", .content = ""});
      Append(text, written.back().content);
      results = true;
      continue;
    }
    const bool goes_on = results && message.role == "user" && message.tool_calls.is_null();
    results = false;
    if (goes_on) {
      Append(message.content, written.back().content);
      continue;
    }
    if (message.tool_calls.is_array()) {
      for (const Json& call : message.tool_calls) Append(WrittenCall(call), message.content);
      message.tool_calls = Json();
    }
    written.push_back(std::move(message));
  }
  messages = std::move(written);
}

// The text in front of the first turn, or behind the system's.
void WriteTools(const std::string& text, bool as_system, std::vector<Message>& messages) {
  if (!messages.empty() && messages.front().role == "system") {
    std::string& content = messages.front().content;
    content += (content.empty() ? "" : "\n\n") + text;
  } else if (as_system || messages.empty()) {
    messages.insert(messages.begin(), {.role = "system", .content = text});
  } else {
    messages.front().content = text + "\n\n" + messages.front().content;
  }
}

}  // namespace

bool KnowsTools(std::string_view source) { return source.find("tools") != std::string_view::npos; }

ToolForm ToolFormOf(std::string_view source) {
  const bool tagged = !KnowsTools(source) || source.find("<tool_call>") != std::string_view::npos;
  return tagged ? ToolForm::kTagged : ToolForm::kBare;
}

Result<std::vector<PromptPiece>> RenderWithTools(const ChatTemplate& chat_template,
                                                 const ChatRequest& request) {
  const std::string& source = chat_template.source();
  const bool plain = request.tools.is_null() && !HasTurns(request);
  if (plain || KnowsTools(source)) return chat_template.Render(request);
  // Before they are copied and printed.
  VIVACE_RETURN_IF_ERROR(CheckNesting(request));
  ChatRequest written = request;
  WriteTurns(written.messages);
  if (written.tools.is_null()) return chat_template.Render(written);
  const std::string text = Description(written.tools);
  written.tools = Json();
  ChatRequest with_system = written;
  WriteTools(text, true, with_system.messages);
  auto pieces = chat_template.Render(with_system);
  if (pieces) return pieces;
  // Some templates refuse a system's turn.
  WriteTools(text, false, written.messages);
  return chat_template.Render(written);
}

}  // namespace vivace
