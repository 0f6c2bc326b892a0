// vivace doctor: the machine, its limits and what to do about them.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/doctor_report.h"
#include "app/progress.h"
#include "app/session.h"
#include "hub/disk.h"
#include "hub/home.h"
#include "machine/machine_json.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct DoctorFlags {
  std::string html;
  bool json = false;
};

// The home folder, or while it does not exist the nearest parent that does.
std::string ExistingFolder(const std::string& path) {
  fs::path folder = path;
  std::error_code error;
  while (!fs::is_directory(folder, error) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder.string();
}

HomeFacts ReadHome() {
  HomeFacts home = {.folder = HomeFolder(), .disk_free = -1};
  std::error_code error;
  const fs::space_info space = fs::space(ExistingFolder(home.folder), error);
  if (!error) home.disk_free = static_cast<std::int64_t>(space.available);
  return home;
}

Json ToJson(const Diagnosis& diagnosis) {
  Json json = FactsJson(diagnosis.facts);
  json["limits"] = LimitsJson(diagnosis.limits);
  json["home"] = {{"folder", diagnosis.home.folder}, {"disk_free", diagnosis.home.disk_free}};
  json["advice"] = Json::array();
  for (const Advice& advice : diagnosis.advice) {
    json["advice"].push_back(
        {{"id", advice.id}, {"level", advice.warning ? "warning" : "note"}, {"text", advice.text}});
  }
  return json;
}

Result<int> Doctor(const DoctorFlags& flags) {
  Diagnosis diagnosis = {
      .facts = ReadMachineFacts(), .limits = {}, .home = ReadHome(), .advice = {}};
  const auto team = MakeTeam(0);
  ProgressLine progress;
  auto limits = MeasureLimits(
      *team, {.bytes = ReadBytesFor(diagnosis.facts.l3_total, diagnosis.facts.memory.usable()),
              .file_folder = ExistingFolder(diagnosis.home.folder),
              .samples = 5,
              .progress = [&](double share) { progress.Show(share, "measuring"); }});
  if (!limits) return Failure(std::move(limits).error());
  diagnosis.limits = std::move(*limits);
  diagnosis.advice = AdviceFor(diagnosis.facts, diagnosis.limits, diagnosis.home);
  progress.Wipe();
  if (!flags.html.empty()) VIVACE_RETURN_IF_ERROR(WriteFile(flags.html, DoctorPage(diagnosis)));
  if (flags.json) {
    std::cout << ToJson(diagnosis).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    return 0;
  }
  const bool bold = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  fmt::print("{}", DoctorText(diagnosis, bold));
  if (!flags.html.empty()) fmt::print("page: {}\n", flags.html);
  return 0;
}

}  // namespace

void AddDoctor(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* command =
      app.add_subcommand("doctor", "What this machine can do, measured, with advice")
          ->group("Measuring");
  command->add_option("--html", flags->html, "Write a page to this file");
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  command->footer("Takes one or two seconds. Close other programs first: they share the memory.");
  command->callback([&slot, flags] { slot.body = [flags] { return Doctor(*flags); }; });
}

}  // namespace vivace
