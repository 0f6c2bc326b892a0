#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/human.h"
#include "hub/catalogue.h"
#include "hub/store.h"

namespace vivace {
namespace {

struct ListFlags {
  bool json = false;
  bool names = false;
};

// For shells to complete: what is here first, then what could be fetched.
Result<int> PrintNames() {
  std::set<std::string> printed;
  const auto print = [&](const std::string& name) {
    if (printed.insert(name).second) fmt::print("{}\n", Printable(name));
  };
  for (const LocalModel& model : ListModels()) print(model.name);
  const auto catalogue = LoadCatalogue();
  if (!catalogue) return Failure(catalogue.error());
  for (const CatalogueEntry& entry : *catalogue) print(entry.full_name());
  return 0;
}

void PrintJson(const std::vector<LocalModel>& models) {
  auto array = nlohmann::ordered_json::array();
  for (const LocalModel& model : models) {
    array.push_back({{"name", model.name},
                     {"path", model.path},
                     {"size", model.size},
                     {"modified", model.modified},
                     {"source", model.source},
                     {"sha256", model.sha256},
                     {"checked_against", model.checked_against}});
  }
  std::cout << array.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

void PrintTable(const std::vector<LocalModel>& models) {
  if (models.empty()) {
    fmt::print("no models here yet; vivace pull {} fetches the default\n", kDefaultModel);
    return;
  }
  std::size_t width = 4;
  for (const LocalModel& model : models) width = std::max(width, Printable(model.name).size());
  fmt::print("{:<{}}  {:>9}  {:<16}  {}\n", "NAME", width, "SIZE", "FETCHED (UTC)", "FROM");
  for (const LocalModel& model : models) {
    std::string when = model.modified.substr(0, 16);
    std::replace(when.begin(), when.end(), 'T', ' ');
    fmt::print("{:<{}}  {:>9}  {:<16}  {}\n", Printable(model.name), width,
               HumanBytes(static_cast<double>(model.size)), when,
               model.source.empty() ? "-" : Printable(model.source));
  }
}

Result<int> List(const ListFlags& flags) {
  if (flags.names) return PrintNames();
  const auto models = ListModels();
  if (flags.json) {
    PrintJson(models);
  } else {
    PrintTable(models);
  }
  return 0;
}

}  // namespace

void AddList(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<ListFlags>();
  CLI::App* command = app.add_subcommand("list", "The models that are here")->group("Models");
  command->add_flag("--names", flags->names, "Every name that MODEL may be, one a line");
  command->add_flag("--json", flags->json, "One JSON array on standard output");
  command->callback([&slot, flags] { slot.body = [flags] { return List(*flags); }; });
}

}  // namespace vivace
