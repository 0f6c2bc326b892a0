#include "api/tool_grammar.h"

#include <string>

#include <fmt/format.h>

#include "api/errors.h"
#include "chat/tool_definitions.h"

namespace vivace {
namespace {

// As grammars write a text.
std::string Quoted(const std::string& text) { return Dump(Json(text)); }

struct CallForm {
  const char* rule;
  const char* before;
  const char* key;
  const char* after;
};
constexpr CallForm kTagged = {"call", "<tool_call>\n", "arguments", "}\n</tool_call>"};
constexpr CallForm kBare = {"call", "", "parameters", "}"};
// As small models write calls instead.
constexpr CallForm kUntagged = {"bare", "", "arguments", "}"};

std::string CallRule(std::size_t index, const std::string& name, const CallForm& form) {
  const std::string before =
      fmt::format("{}{{\"name\": {}, \"{}\": ", form.before, Dump(Json(name)), form.key);
  return fmt::format("{0}_{1}: {2} @arguments_{1} {3}\n", form.rule, index, Quoted(before),
                     Quoted(form.after));
}

}  // namespace

GrammarSource ToolGrammar(const ChatRequest& chat, ToolForm form, const std::string* schema) {
  GrammarSource source = {.kind = GrammarKind::kLark};
  const bool tagged = form == ToolForm::kTagged;
  std::string calls;
  std::string others;  // than calls in their usual form
  std::string rules;
  for (std::size_t i = 0; i < chat.tools.size(); ++i) {
    const Json& tool = chat.tools[i];
    const auto name = tool.at("function").at("name").get<std::string>();
    if (!chat.forced_tool.empty() && name != chat.forced_tool) continue;
    calls += fmt::format("{}call_{}", calls.empty() ? "" : " | ", i);
    rules += CallRule(i, name, tagged ? kTagged : kBare);
    if (tagged && schema != nullptr) {
      others += fmt::format(" | bare_{}", i);
      rules += CallRule(i, name, kUntagged);
    }
    source.schemas.emplace_back(fmt::format("arguments_{}", i), Dump(ToolSchema(tool)));
  }
  const bool several = chat.parallel_tool_calls && tagged;
  if (schema != nullptr) {
    source.schemas.emplace_back("answer", *schema);
    others += " | @answer";
  }
  source.text = fmt::format("start: call{}{}\ncall: {}\n{}", several ? " (\"\\n\" call)*" : "",
                            others, calls, rules);
  return source;
}

}  // namespace vivace
