#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/fetch.h"
#include "app/human.h"
#include "hub/store.h"

namespace vivace {
namespace {

struct PullFlags {
  std::string name;
  bool json = false;
};

Result<int> PullModel(const PullFlags& flags) {
  const auto entry = EntryOf(flags.name);
  if (!entry) return Failure(entry.error());
  const bool local = IsLocal(*entry);
  const auto model = FetchIfMissing(flags.name);
  if (!model) return Failure(model.error());
  LocalModel here;
  for (LocalModel& candidate : ListModels()) {
    if (candidate.path == model->path) here = std::move(candidate);
  }
  if (flags.json) {
    std::cout << nlohmann::ordered_json({{"name", model->name},
                                         {"path", model->path},
                                         {"downloaded", !local},
                                         {"size", here.size},
                                         {"sha256", here.sha256},
                                         {"checked_against", here.checked_against},
                                         {"source", here.source}})
                     .dump()
              << '\n';
    return 0;
  }
  fmt::print("{} {} {} ({})\n", model->name, local ? "is already here:" : "is ready:", model->path,
             HumanBytes(static_cast<double>(here.size)));
  return 0;
}

}  // namespace

void AddPull(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<PullFlags>();
  CLI::App* command =
      app.add_subcommand("pull", "Download a model, checked by SHA-256")->group("Models");
  command
      ->add_option("NAME", flags->name,
                   "A catalogue name with optional :quant, or hf:org/repo/file")
      ->required();
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  command->footer(
      "Examples:\n"
      "  vivace pull qwen2.5-0.5b-instruct\n"
      "  vivace pull qwen2.5-1.5b-instruct:q8_0\n"
      "  vivace pull hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_0.gguf\n"
      "A broken download is continued by the same command.");
  command->callback([&slot, flags] { slot.body = [flags] { return PullModel(*flags); }; });
}

}  // namespace vivace
