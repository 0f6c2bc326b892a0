// The machine as JSON: `vivace doctor --json`, and the field "machine" of every benchmark's
// result. Speeds are GB/s and GMAC/s, sizes bytes.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/facts.h"
#include "machine/limits.h"
#include "machine/spread.h"

namespace vivace {

// {"median", "min", "max"}, each times `scale`.
nlohmann::ordered_json SpreadJson(const Spread& spread, double scale = 1);

nlohmann::ordered_json FactsJson(const MachineFacts& facts);
nlohmann::ordered_json LimitsJson(const MachineLimits& limits);

}  // namespace vivace
