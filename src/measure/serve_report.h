// ServeReport: a server benchmark's figures with what they were made of, and its three forms:
// JSON for programs, a table for terminals, a page for browsers (serve_page.h).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "machine/facts.h"
#include "measure/serve_bench.h"
#include "measure/serve_figures.h"

namespace vivace {

struct ServeReport {
  ServeBenchOptions options;
  std::vector<ServeServer> servers;
  MachineFacts machine;  // of the client; with servers on loopback also theirs
  double seconds = 0;
  bool interrupted = false;
};

// An array with one object for each server.
nlohmann::ordered_json ServeJson(const ServeReport& report);
std::string ServeText(const ServeReport& report);

// "closed loop, 4 clients", "open loop, 2 requests/s".
std::string LoopText(const ServeBenchOptions& options);

}  // namespace vivace
