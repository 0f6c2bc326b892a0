// The fields of /completion and /infill beside their prompts.
#pragma once

#include "api/completion_format.h"
#include "api/endpoint.h"
#include "api/fields.h"
#include "api/generation.h"

namespace vivace {

// Reads them into both. What cannot be honoured is refused: 501.
Answer<CompletionOptions> ReadCompletion(Call& call, Fields& fields, Generation& generation);

// "samplers": which steps of sampling run, as names or as a string of letters. They have
// one order here; another one is rejected where it would matter. Returns their names.
Json ReadSamplers(Fields& fields, SamplingParams& sampling);

}  // namespace vivace
