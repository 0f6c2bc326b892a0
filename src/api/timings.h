// How an answer's times are shown: as JSON fields, as a header, and as a line for people.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "engine/request.h"

namespace vivace {

// What was done for a request before it came to the engine.
struct Preparation {
  double template_ms = 0;
  double tokenize_ms = 0;
};

// The names of llama.cpp's `timings`, and ours beside them. The first token counts as
// part of the prompt, so the rates divide by the tokens after it.
nlohmann::ordered_json TimingsJson(const GenerateTimings& timings,
                                   const Preparation& preparation = {});
// The value of a Server-Timing header.
std::string ServerTiming(const GenerateTimings& timings, const Preparation& preparation);
std::string TimingsLine(const GenerateTimings& timings);

}  // namespace vivace
