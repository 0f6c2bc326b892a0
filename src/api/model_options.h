// The options of a model: what Ollama's "options" and a Modelfile's PARAMETER may set.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/fields.h"
#include "base/result.h"

namespace vivace {

using ParameterTexts = std::vector<std::pair<std::string, std::string>>;

// Says which known option has the wrong type. Unknown ones are left alone: servers differ in
// what they have, and clients send their favourites to all.
void CheckOptions(Fields& options);

// A Modelfile's parameters as options and back. Unknown names are kBadInput here, and what
// no request could use: whoever makes a model is told at once.
Result<Json> OptionsOf(const ParameterTexts& parameters);
Result<ParameterTexts> ParametersOf(const Json& options);

}  // namespace vivace
