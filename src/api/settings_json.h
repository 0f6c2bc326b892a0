// The settings of a request as llama.cpp's answers echo them, under its names.
#pragma once

#include "api/generation.h"
#include "chat/json_input.h"

namespace vivace {

// All but what may be long: stop strings, biases.
Json BriefSettings(const Generation& generation);
// With those.
Json FullSettings(const Generation& generation);

}  // namespace vivace
