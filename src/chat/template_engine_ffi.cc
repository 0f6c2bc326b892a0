#include <utility>

#include <vivace_ffi.h>

#include "chat/template_engine.h"

namespace vivace {
namespace {

vivace_template* AsTemplate(void* handle) { return static_cast<vivace_template*>(handle); }

// Copies the library's text and frees it.
std::string Take(vivace_text& text) {
  std::string copy(text.size == 0 ? "" : text.data, text.size);
  vivace_text_free(&text);
  return copy;
}

Failure TemplateFailure(std::int32_t status, const std::string& message) {
  if (status == VIVACE_TEMPLATE_RAISED) {
    return Fail(ErrorKind::kBadInput, "the chat template refuses this conversation: " + message);
  }
  return Fail(ErrorKind::kBadInput, "chat template: " + message);
}

}  // namespace

bool TemplateEngine::Available() { return true; }

void TemplateEngine::Free::operator()(Handle* handle) const {
  vivace_template_free(AsTemplate(handle));
}

Result<TemplateEngine> TemplateEngine::Compile(std::string_view source) {
  vivace_template* compiled = nullptr;
  vivace_text error{};
  const std::int32_t status =
      vivace_template_compile(source.data(), source.size(), &compiled, &error);
  const std::string message = Take(error);
  if (status != VIVACE_TEMPLATE_OK) return TemplateFailure(status, message);
  return TemplateEngine(static_cast<Handle*>(static_cast<void*>(compiled)));
}

Result<std::string> TemplateEngine::Render(std::string_view context, std::int64_t local_seconds,
                                           char32_t marker) const {
  vivace_text output{};
  const std::int32_t status = vivace_template_render(
      AsTemplate(handle_.get()), context.data(), context.size(), local_seconds, marker, &output);
  std::string text = Take(output);
  if (status != VIVACE_TEMPLATE_OK) return TemplateFailure(status, text);
  return text;
}

}  // namespace vivace
