// TemplateSource: the Jinja of what people write where a chat template is asked for.
//
// That is the name of a built-in template, Jinja itself, or a Go template of the older,
// simple kind: text with {{ .System }}, {{ .Prompt }} and {{ .Response }}, and {{ if }} on
// the first two. Stateless.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace vivace {

// kUnsupported for Go templates with more than that; kBadInput for text that is none of
// the three, which would ignore every message.
Result<std::string> TemplateSource(std::string_view text);

}  // namespace vivace
