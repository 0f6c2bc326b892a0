#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "hub/resolve.h"
#include "hub/store.h"

namespace vivace {
namespace {

struct RemoveFlags {
  std::string name;
  bool json = false;
};

Result<int> Remove(const RemoveFlags& flags) {
  const auto file = FileOf(flags.name);
  if (!file) return Failure(file.error());
  VIVACE_RETURN_IF_ERROR(RemoveModel(*file));
  if (flags.json) {
    std::cout
        << nlohmann::ordered_json({{"name", flags.name}, {"removed", ModelPath(*file)}}).dump()
        << '\n';
  } else {
    fmt::print("removed {}\n", ModelPath(*file));
  }
  return 0;
}

}  // namespace

void AddRemove(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<RemoveFlags>();
  CLI::App* command =
      app.add_subcommand("rm", "Remove a model and what was made from it")->group("Models");
  command->add_option("NAME", flags->name, "A name that vivace list shows")->required();
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  command->callback([&slot, flags] { slot.body = [flags] { return Remove(*flags); }; });
}

}  // namespace vivace
