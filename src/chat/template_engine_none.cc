#include "base/check.h"
#include "chat/builtin_templates.h"
#include "chat/template_engine.h"

namespace vivace {

bool TemplateEngine::Available() { return false; }

void TemplateEngine::Free::operator()(Handle*) const {}

Result<TemplateEngine> TemplateEngine::Compile(std::string_view) {
  return Fail(
      ErrorKind::kUnsupported,
      "this build renders built-in chat templates only, not the model's own; --chat-template "
      "chooses one of " +
          BuiltinNames());
}

Result<std::string> TemplateEngine::Render(std::string_view, std::int64_t, char32_t) const {
  CheckFailed(__FILE__, __LINE__, "no template can have been compiled");
}

}  // namespace vivace
