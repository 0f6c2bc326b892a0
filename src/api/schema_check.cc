// POST /v1/schema/check
#include <utility>

#include <fmt/format.h>

#include "api/endpoints.h"
#include "api/generation.h"
#include "api/model_pool.h"
#include "base/clock.h"

namespace vivace {
namespace {

struct Form {
  const char* name;
  GrammarKind kind;
};
constexpr Form kForms[] = {{"schema", GrammarKind::kJsonSchema},
                           {"grammar", GrammarKind::kGbnf},
                           {"regex", GrammarKind::kRegex},
                           {"lark", GrammarKind::kLark}};

Answer<std::pair<std::string, GrammarSource>> ReadForm(Fields& fields) {
  std::pair<std::string, GrammarSource> found;
  for (const Form& form : kForms) {
    if (!fields.Has(form.name)) continue;
    if (!found.first.empty()) {
      return RefuseInput(fmt::format("{} and {}: one at a time", found.first, form.name));
    }
    found.first = form.name;
    found.second.kind = form.kind;
    const Json& value = *fields.Find(form.name);
    if (form.kind != GrammarKind::kJsonSchema) {
      found.second.text = fields.Text(form.name);
    } else if (value.is_object() || value.is_boolean()) {
      found.second.text = Dump(value);
    } else {
      fields.Reject(form.name, "expected a JSON schema");
    }
  }
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (found.first.empty()) return RefuseInput("needed is one of schema, grammar, regex, lark");
  return found;
}

Answer<void> CheckSchema(Call& call) {
  Fields fields(call.body);
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  const auto form = ReadForm(fields);
  if (!form) return Refusal(form.error());
  const double start_ms = NowMs();
  const auto grammar = (*model)->grammars().Compile(form->second);
  if (!grammar) {
    Error error = grammar.error();
    error.message = fmt::format("{}: {}", form->first, error.message);
    return Refusal(ApiError(std::move(error)));
  }
  (void)call.writer.Send(JsonResponse({{"ok", true},
                                       {"kind", GrammarKindName((*grammar)->kind())},
                                       {"warnings", (*grammar)->warnings()},
                                       {"compile_ms", (*grammar)->compile_ms()},
                                       {"ms", NowMs() - start_ms}}));
  return {};
}

}  // namespace

void AddSchemaCheck(http::Router& router, Service& service) {
  router.Add("POST", "/v1/schema/check", JsonEndpoint(service, CheckSchema));
}

}  // namespace vivace
