#include "api/tool_grammar.h"

#include <string>

#include <fmt/format.h>

#include "api/errors.h"
#include "chat/tool_definitions.h"

namespace vivace {
namespace {

// As grammars write a text.
std::string Quoted(const std::string& text) { return Dump(Json(text)); }

std::string CallRule(std::size_t index, const std::string& name, ToolForm form) {
  const bool tagged = form == ToolForm::kTagged;
  const std::string before =
      fmt::format("{}{{\"name\": {}, \"{}\": ", tagged ? "<tool_call>\n" : "", Dump(Json(name)),
                  tagged ? "arguments" : "parameters");
  const std::string after = tagged ? "}\n</tool_call>" : "}";
  return fmt::format("call_{0}: {1} @arguments_{0} {2}\n", index, Quoted(before), Quoted(after));
}

}  // namespace

GrammarSource ToolGrammar(const ChatRequest& chat, ToolForm form, const std::string* schema) {
  GrammarSource source = {.kind = GrammarKind::kLark};
  std::string calls;
  std::string rules;
  for (std::size_t i = 0; i < chat.tools.size(); ++i) {
    const Json& tool = chat.tools[i];
    const auto name = tool.at("function").at("name").get<std::string>();
    if (!chat.forced_tool.empty() && name != chat.forced_tool) continue;
    calls += fmt::format("{}call_{}", calls.empty() ? "" : " | ", i);
    rules += CallRule(i, name, form);
    source.schemas.emplace_back(fmt::format("arguments_{}", i), Dump(ToolSchema(tool)));
  }
  const bool several = chat.parallel_tool_calls && form == ToolForm::kTagged;
  if (schema != nullptr) source.schemas.emplace_back("answer", *schema);
  source.text = fmt::format("start: call{}{}\ncall: {}\n{}", several ? " (\"\\n\" call)*" : "",
                            schema != nullptr ? " | @answer" : "", calls, rules);
  return source;
}

}  // namespace vivace
