// vivace bench: the command whose parts are the benchmarks.
#include "app/bench.h"

#include "app/commands.h"

namespace vivace {

void AddBench(CLI::App& app, CommandSlot& slot) {
  CLI::App* bench =
      app.add_subcommand("bench", "Benchmarks of the engine and of servers")->group("Measuring");
  bench->require_subcommand(1);
  AddBenchEngine(*bench, slot);
  AddBenchServe(*bench, slot);
}

}  // namespace vivace
