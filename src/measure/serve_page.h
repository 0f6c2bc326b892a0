// A server benchmark's result as one self-contained page with plots, side by side.
#pragma once

#include <string>

#include "measure/serve_report.h"

namespace vivace {

std::string ServePage(const ServeReport& report);

}  // namespace vivace
