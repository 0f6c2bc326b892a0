// Fetches models for the commands that need one, and shows a person how far it is.
#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"
#include "hub/resolve.h"

namespace vivace {

// The file that MODEL means (hub/resolve.h), downloaded if it is not here. Ctrl-C stops
// it: kCancelled, and stderr says that the next try goes on from there.
Result<ResolvedModel> FetchIfMissing(const std::string& model);

// Events that draw a progress bar on a terminal, and print a line now and then elsewhere.
PullEvents ConsoleEvents(std::stop_token stop);

}  // namespace vivace
