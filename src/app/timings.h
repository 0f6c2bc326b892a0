// How an answer's times are shown: as JSON fields and as a line for people.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "engine/generator.h"

namespace vivace {

// The names of llama.cpp's `timings`, and ours beside them. The first token counts as
// part of the prompt, so the rates divide by the tokens after it.
nlohmann::ordered_json TimingsJson(const GenerateTimings& timings);
std::string TimingsLine(const GenerateTimings& timings);

}  // namespace vivace
