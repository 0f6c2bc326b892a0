// Warming up: what first requests would wait for is done before there are any.
#pragma once

#include <string>

#include "api/errors.h"
#include "api/model_pool.h"

namespace vivace {

// Runs one token through the model, so that its weights are in memory and its threads know
// their work.
Answer<void> WarmUp(const ModelLease& model);

// Evaluates the prompts of a file into the cache: a JSON object or an array of them, each
// with "system" and "tools", or with the "messages" and "tools" of a chat request. Returns
// how many tokens are ready. Errors say which entry is wrong.
Answer<std::int64_t> WarmPrompts(const ModelLease& model, const std::string& text);

}  // namespace vivace
