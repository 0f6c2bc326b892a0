// An engine benchmark as a page: the roofline with its points, prompts, contexts and batches
// against what the machine allows, and the machine's facts.
#pragma once

#include <string>

#include "measure/engine_report.h"

namespace vivace {

std::string EnginePage(const EngineReport& report);

}  // namespace vivace
