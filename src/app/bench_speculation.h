// vivace bench engine --speculation: what drafts are worth on this machine.
#pragma once

#include <cstdint>

#include "app/session.h"
#include "base/result.h"

namespace vivace {

// Prints a table, or one JSON object. Answers of up to `tokens` tokens.
Result<int> BenchSpeculation(const SessionFlags& flags, std::int64_t tokens, bool json);

}  // namespace vivace
