// The fields of /completion and /infill beside their prompts.
#pragma once

#include "api/completion_format.h"
#include "api/endpoint.h"
#include "api/fields.h"
#include "api/generation.h"

namespace vivace {

// Reads them into both. What cannot be honoured is refused: 501.
Answer<CompletionOptions> ReadCompletion(Call& call, Fields& fields, Generation& generation);

}  // namespace vivace
