// The parts of `vivace bench`, one file each.
#pragma once

#include <CLI/CLI.hpp>

#include "app/commands.h"

namespace vivace {

void AddBenchEngine(CLI::App& bench, CommandSlot& slot);
void AddBenchServe(CLI::App& bench, CommandSlot& slot);

}  // namespace vivace
