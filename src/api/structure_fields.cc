#include "api/structure_fields.h"

#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace vivace {
namespace {

Refusal Wrong(const std::string& field, std::string_view problem) {
  return RefuseInput(fmt::format("{}: {}", field, problem));
}

GrammarSource SchemaSource(const Json& schema) {
  return {.kind = GrammarKind::kJsonSchema, .text = Dump(schema)};
}

Answer<void> ConstrainToSchema(const Json* schema, const std::string& field,
                               Generation& generation) {
  if (schema == nullptr || schema->is_null()) return Wrong(field, "needed, a JSON schema");
  if (!schema->is_object() && !schema->is_boolean()) return Wrong(field, "expected a JSON schema");
  return Constrain(SchemaSource(*schema), field, generation);
}

const Json* Member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

// {"type": "text" | "json_object" | "json_schema", ...}. The schema lies in `holder` of a
// json_schema, or in the format itself.
Answer<void> ReadFormat(const Json& format, const std::string& field, const char* holder,
                        Generation& generation) {
  if (!format.is_object()) return Wrong(field, "expected an object");
  const std::string type = TextIn(format, "type");
  if (type == "text") return {};
  if (type == "json_object") {
    const Json* schema = Member(format, "schema");
    if (schema != nullptr && !schema->is_null()) {
      return ConstrainToSchema(schema, field + ".schema", generation);
    }
    return Constrain(AnyJsonObject(), field, generation);
  }
  if (type != "json_schema") {
    return Wrong(field + ".type", fmt::format("\"{}\" is unknown, allowed is text, json_object, "
                                              "json_schema",
                                              type.substr(0, 40)));
  }
  const Json* place = &format;
  std::string where = field;
  if (holder != nullptr) {
    where += std::string(".") + holder;
    place = Member(format, holder);
    if (place == nullptr || !place->is_object()) return Wrong(where, "needed, an object");
  }
  return ConstrainToSchema(Member(*place, "schema"), where + ".schema", generation);
}

// A text of our own or llama.cpp's; empty is absent.
Answer<void> ReadText(Fields& fields, const char* name, GrammarKind kind, Generation& generation) {
  const std::string text = fields.Text(name);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (text.empty()) return {};
  return Constrain({.kind = kind, .text = text}, name, generation);
}

Answer<void> ReadOwn(Fields& fields, Generation& generation) {
  if (auto done = ReadText(fields, "regex", GrammarKind::kRegex, generation); !done) return done;
  return ReadText(fields, "lark", GrammarKind::kLark, generation);
}

// llama.cpp numbers the types; clients of other servers write names.
std::string TriggerType(const Json& trigger) {
  constexpr std::array kTypes = {"token", "word", "pattern", "pattern_full"};
  const Json* type = Member(trigger, "type");
  if (type != nullptr && type->is_string()) return type->get<std::string>();
  if (type == nullptr || !type->is_number_integer()) return "";
  const auto number = type->get<std::int64_t>();
  const bool known = number >= 0 && number < static_cast<std::int64_t>(kTypes.size());
  return known ? kTypes[static_cast<std::size_t>(number)] : "";
}

Answer<Trigger> ReadTokenTrigger(const Json& json, const std::string& where,
                                 const Tokenizer& tokenizer) {
  const Json* token = Member(json, "token");
  const auto named = tokenizer.Find(TextIn(json, "value"));
  const auto id = token != nullptr && token->is_number_integer() ? token->get<std::int64_t>() : -1;
  const auto most = static_cast<std::int64_t>(tokenizer.vocab_size());
  const bool known = id >= 0 && id < most;
  if (!known && !named) {
    return Wrong(where + ".token", fmt::format("needed, allowed is 0 to {}", most - 1));
  }
  return Trigger{.kind = Trigger::Kind::kToken, .token = known ? static_cast<TokenId>(id) : *named};
}

Answer<Trigger> ReadTrigger(const Json& json, const std::string& where,
                            const Tokenizer& tokenizer) {
  if (!json.is_object()) return Wrong(where, "expected an object");
  const std::string type = TriggerType(json);
  if (type == "token") return ReadTokenTrigger(json, where, tokenizer);
  const bool whole = type == "pattern_full";
  if (type != "word" && type != "pattern" && !whole) {
    return Wrong(where + ".type", "unknown, allowed is word, token, pattern, pattern_full");
  }
  std::string text = TextIn(json, "value");
  if (text.empty()) return Wrong(where + ".value", "needed, a text");
  if (type == "word") return Trigger{.word = std::move(text)};
  auto pattern = TriggerPattern::Compile(text, whole);
  if (!pattern) return Wrong(where + ".value", pattern.error().message);
  return Trigger{.kind = Trigger::Kind::kPattern,
                 .pattern = std::make_shared<const TriggerPattern>(std::move(*pattern))};
}

Answer<void> ReadLaziness(Fields& fields, Generation& generation) {
  ConstraintSpec& spec = generation.request.constraint;
  spec.lazy = fields.Bool("grammar_lazy", false);
  const Json* triggers = fields.Array("grammar_triggers");
  (void)fields.Array("preserved_tokens");  // all tokens are what they are
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (!spec.lazy) return {};
  if (!spec) return Wrong("grammar_lazy", "needs a grammar");
  if (triggers == nullptr || triggers->empty()) {
    return Wrong("grammar_triggers", "a lazy grammar needs at least one");
  }
  for (std::size_t i = 0; i < triggers->size(); ++i) {
    auto trigger = ReadTrigger((*triggers)[i], fmt::format("grammar_triggers[{}]", i),
                               generation.model->tokenizer());
    if (!trigger) return Refusal(std::move(trigger).error());
    spec.triggers.push_back(std::move(*trigger));
  }
  return {};
}

Answer<void> ReadLlamaCpp(Fields& fields, Generation& generation) {
  if (const Json* schema = fields.Find("json_schema"); schema != nullptr) {
    if (auto done = ConstrainToSchema(schema, "json_schema", generation); !done) return done;
  }
  return ReadText(fields, "grammar", GrammarKind::kGbnf, generation);
}

}  // namespace

Answer<void> Constrain(const GrammarSource& source, const std::string& field,
                       Generation& generation) {
  ConstraintSpec& spec = generation.request.constraint;
  if (spec) return Wrong(field, "the answer has another form already; only one can be asked for");
  auto grammar = generation.model->grammars().Compile(source);
  if (!grammar) {
    Error error = std::move(grammar).error();
    error.message = fmt::format("{}: {}", field, error.message);
    return Refusal(ApiError(std::move(error)));
  }
  spec.grammar = std::move(*grammar);
  generation.form = source;
  return {};
}

Answer<void> ReadStructure(Fields& fields, Generation& generation) {
  if (const Json* format = fields.Object("response_format")) {
    auto done = ReadFormat(*format, "response_format", "json_schema", generation);
    if (!done) return done;
  }
  if (auto done = ReadLlamaCpp(fields, generation); !done) return done;
  if (auto done = ReadOwn(fields, generation); !done) return done;
  return ReadLaziness(fields, generation);
}

Answer<void> ReadResponsesStructure(Fields& fields, Generation& generation) {
  if (const Json* text = fields.Object("text")) {
    const Json* format = Member(*text, "format");
    if (format != nullptr && !format->is_null()) {
      auto done = ReadFormat(*format, "text.format", nullptr, generation);
      if (!done) return done;
    }
  }
  return ReadStructure(fields, generation);
}

Answer<void> ReadOllamaStructure(Fields& fields, Generation& generation) {
  const Json* format = fields.Find("format");
  if (format != nullptr && *format != "") {
    if (!format->is_object() && *format != "json") {
      return Wrong("format", "expected \"json\" or a JSON schema");
    }
    auto done = format->is_object() ? ConstrainToSchema(format, "format", generation)
                                    : Constrain(AnyJsonObject(), "format", generation);
    if (!done) return done;
  }
  return ReadOwn(fields, generation);
}

Answer<void> ReadAnthropicStructure(Fields& fields, Generation& generation) {
  if (const Json* format = fields.Object("output_format")) {
    if (auto done = ReadFormat(*format, "output_format", nullptr, generation); !done) return done;
  }
  if (const Json* config = fields.Object("output_config")) {
    const Json* format = Member(*config, "format");
    if (format != nullptr && !format->is_null()) {
      auto done = ReadFormat(*format, "output_config.format", nullptr, generation);
      if (!done) return done;
    }
  }
  return ReadOwn(fields, generation);
}

}  // namespace vivace
