// The fields by which a request says what form its answer must have, in all dialects.
//
// Each reader compiles what it finds and puts it into the generation; a request may ask for
// one form only. 400 names the field and the place in it that is wrong, 501 says that this
// build has no grammars. Nothing is ever left unconstrained in silence.
#pragma once

#include <string>

#include "api/errors.h"
#include "api/fields.h"
#include "api/generation.h"
#include "constrain/grammar.h"

namespace vivace {

// "response_format" of OpenAI, "json_schema" and "grammar" of llama.cpp with "grammar_lazy",
// "grammar_triggers" and "preserved_tokens", and the fields of our own, "regex" and "lark".
Answer<void> ReadStructure(Fields& fields, Generation& generation);

// "text": {"format": ...} of /v1/responses, and the rest as above.
Answer<void> ReadResponsesStructure(Fields& fields, Generation& generation);

// "format" of Ollama: "json" or a schema; and "regex" and "lark".
Answer<void> ReadOllamaStructure(Fields& fields, Generation& generation);

// "output_config": {"format": ...} of Anthropic, or "output_format"; and "regex" and "lark".
Answer<void> ReadAnthropicStructure(Fields& fields, Generation& generation);

// Has the answer follow the grammar. `field` is named in errors.
Answer<void> Constrain(const GrammarSource& source, const std::string& field,
                       Generation& generation);

}  // namespace vivace
