#include "chat/chat_template.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/utf8.h"
#include "chat/untrusted_text.h"

namespace vivace {
namespace {

std::int64_t LocalSecondsNow() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  if (localtime_r(&now, &local) == nullptr) return now;
  return now + local.tm_gmtoff;
}

// The variables that transformers gives to a template.
Json TemplateContext(const ChatRequest& request, const TemplateTokens& tokens) {
  Json context = request.variables.is_object() ? request.variables : Json::object();
  Json messages = Json::array();
  for (const Message& message : request.messages) messages.push_back(ToJson(message));
  context["messages"] = std::move(messages);
  context["tools"] = request.tools;
  if (!context.contains("documents")) context["documents"] = nullptr;
  context["add_generation_prompt"] = request.add_generation_prompt;
  context["bos_token"] = tokens.bos;
  context["eos_token"] = tokens.eos;
  return context;
}

Result<std::string> Dump(const Json& context) {
  try {
    return context.dump();
  } catch (const Json::exception&) {
    return Fail(ErrorKind::kBadInput, "a message, tool or variable holds bytes that are not UTF-8");
  }
}

void Remove(std::string_view what, std::string& text) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;) {
    text.erase(at, what.size());
  }
}

}  // namespace

ChatTemplate::ChatTemplate(std::string source, TemplateTokens tokens)
    : source_(std::move(source)), tokens_(std::move(tokens)), controls_(tokens_.control) {}

Result<ChatTemplate> ChatTemplate::Compile(std::string source, TemplateTokens tokens) {
  ChatTemplate result(std::move(source), std::move(tokens));
  if (!TemplateEngine::Available()) {
    const auto builtins = BuiltinTemplates();
    const auto found = std::ranges::find(builtins, result.source_, &BuiltinTemplate::source);
    if (found != builtins.end()) {
      result.builtin_ = &*found;
      return result;
    }
  }
  auto engine = TemplateEngine::Compile(result.source_);
  if (!engine) return Failure(std::move(engine).error());
  result.engine_ = std::make_unique<TemplateEngine>(std::move(*engine));
  return result;
}

Result<std::string> ChatTemplate::RenderText(const ChatRequest& broken, char32_t marker) const {
  if (builtin_ != nullptr) {
    std::string prompt;
    builtin_->write(broken, tokens_, prompt);
    return prompt;
  }
  const auto context = Dump(TemplateContext(broken, tokens_));
  if (!context) return Failure(context.error());
  const std::int64_t seconds = broken.local_seconds < 0 ? LocalSecondsNow() : broken.local_seconds;
  return engine_->Render(*context, seconds, marker);
}

Result<std::vector<PromptPiece>> ChatTemplate::Render(const ChatRequest& request) const {
  auto nested = CheckNesting(request);
  if (!nested) return Failure(std::move(nested).error());
  MarkerSet used;
  FindMarkers(request, used);
  FindMarkers(source_, used);
  for (const std::string& text : tokens_.control) FindMarkers(text, used);
  if (used.all()) {
    return Fail(ErrorKind::kBadInput,
                "the conversation holds all of the noncharacters U+FDD0 to U+FDEF; "
                "at least one must be left to mark its texts");
  }
  char32_t marker = kFirstMarker;
  while (used[marker - kFirstMarker]) ++marker;
  std::string marker_text;
  AppendUtf8(marker, marker_text);

  auto rendered = RenderText(BreakControlTexts(request, controls_, marker_text), marker);
  if (!rendered) {
    Error error = std::move(rendered).error();
    Remove(marker_text, error.message);
    return Failure(std::move(error));
  }
  return controls_.Split(*rendered, marker_text);
}

}  // namespace vivace
