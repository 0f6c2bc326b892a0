#include "api/tool_use.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/structure_fields.h"
#include "api/tool_grammar.h"
#include "chat/tool_definitions.h"
#include "chat/tool_prompt.h"

namespace vivace {
namespace {

// Which tool's schema is to blame for `error`.
Refusal WrongSchema(const ChatRequest& chat, GrammarCompiler& grammars, ApiError error) {
  for (std::size_t i = 0; i < chat.tools.size(); ++i) {
    const Json& tool = chat.tools[i];
    auto alone = grammars.Compile(
        {.kind = GrammarKind::kJsonSchema, .text = Dump(ToolSchema(tool)), .schemas = {}});
    if (alone) continue;
    const std::string name = Dump(tool.at("function").at("name"));
    return RefuseInput(fmt::format("tools[{}] {}: parameters: {}", i, name, alone.error().message));
  }
  return Refusal(std::move(error));
}

// From the first token where a call must come or the answer has a form, else from the first
// call on. Models that write calls without a tag are free there: nothing tells such a call from
// other JSON.
Answer<void> BindCalls(const ChatTemplate& chat_template, const ChatRequest& chat,
                       Generation& generation) {
  const bool required = chat.tool_choice == ToolChoice::kRequired;
  if (!GrammarCompiler::Available()) {
    if (!required) return {};
    return NotSupported("tool_choice: this build cannot enforce it, only \"auto\" and \"none\"");
  }
  const ToolForm form = ToolFormOf(chat_template.source());
  const std::optional<GrammarSource> answer = std::exchange(generation.form, std::nullopt);
  generation.request.constraint = {};
  if (!required && !answer && form == ToolForm::kBare) return {};
  const std::string* schema = required || !answer ? nullptr : &answer->text;
  if (auto bound = Constrain(ToolGrammar(chat, form, schema), "tools", generation); !bound) {
    return WrongSchema(chat, generation.model->grammars(), std::move(bound).error());
  }
  if (required || schema != nullptr) return {};
  generation.request.constraint.lazy = true;
  generation.request.constraint.triggers = {{.word = kCallTrigger}};
  return {};
}

}  // namespace

Answer<void> PrepareTools(const ChatTemplate& chat_template, const ChatRequest& chat,
                          Generation& generation) {
  if (chat.tools.is_null() || generation.tool_calls) return {};
  const bool schema = generation.form && generation.form->kind == GrammarKind::kJsonSchema;
  if (generation.form && (!schema || generation.request.constraint.lazy)) {
    return RefuseInput(
        "tools: of other forms, only JSON and JSON schemas can be asked for as well");
  }
  generation.tool_calls = std::make_shared<const ToolCallOptions>(
      ToolCallOptions{.names = ToolNames(chat.tools), .parallel = chat.parallel_tool_calls});
  return BindCalls(chat_template, chat, generation);
}

}  // namespace vivace
