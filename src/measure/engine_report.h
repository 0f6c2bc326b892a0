// EngineReport: an engine benchmark's result with what it was made of, and its three forms:
// JSON for programs, a table for terminals, a page for browsers (engine_page.h).
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "machine/facts.h"
#include "measure/engine_bench.h"

namespace vivace {

struct EngineReport {
  std::string model;  // as people call it
  std::string architecture;
  std::string kernels;  // the tier
  int threads = 0;
  std::int64_t model_context = 0;
  ModelWork work;
  EngineBenchOptions options;
  EngineBenchResult result;
  MachineFacts machine;
};

nlohmann::ordered_json EngineJson(const EngineReport& report);
std::string EngineText(const EngineReport& report);

// "1.23", "45.6", "789", "12300": three digits, as the forms show them.
std::string ShortNumber(double value);

}  // namespace vivace
