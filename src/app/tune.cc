// vivace tune: finds what settings are fastest on this machine, and keeps them.
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/human.h"
#include "app/interrupts.h"
#include "app/progress.h"
#include "app/session.h"
#include "app/tuning_file.h"
#include "base/cpu.h"
#include "base/cpu_choice.h"
#include "base/quota.h"
#include "machine/machine_json.h"
#include "measure/engine_report.h"
#include "measure/engine_tuning.h"

namespace vivace {
namespace {

struct TuneFlags {
  SessionFlags session;
  double seconds = 90;
  bool forget = false;
  bool json = false;
};

nlohmann::ordered_json ToJson(const EngineTuning& tuning, const std::string& key,
                              const std::string& model) {
  const TunedSettings& settings = tuning.settings;
  nlohmann::ordered_json json = {{"key", key},
                                 {"model", model},
                                 {"seconds", tuning.seconds},
                                 {"threads", settings.threads},
                                 {"prompt_chunk", settings.prompt_chunk},
                                 {"prefetch_bytes", settings.prefetch},
                                 {"stall_budget_ms", settings.stall_budget_ms},
                                 {"findings", nlohmann::ordered_json::array()}};
  for (const TuningFinding& finding : tuning.findings) {
    auto candidates = nlohmann::ordered_json::array();
    for (const TuningCandidate& candidate : finding.candidates) {
      candidates.push_back({{"value", candidate.value}, {"speed", SpreadJson(candidate.speed)}});
    }
    json["findings"].push_back({{"name", finding.name},
                                {"value", finding.value},
                                {"why", finding.sentence},
                                {"unit", finding.unit},
                                {"candidates", candidates}});
  }
  return json;
}

void Print(const EngineTuning& tuning, const std::string& model) {
  fmt::print("tuned with {} in {:.0f} s\n", Printable(model), tuning.seconds);
  for (const TuningFinding& finding : tuning.findings) {
    fmt::print("\n{} = {}\n  {}\n", finding.name, finding.value, finding.sentence);
    for (const TuningCandidate& candidate : finding.candidates) {
      fmt::print("  {:>6}: {:>6} {} ({}-{})\n", candidate.value,
                 ShortNumber(candidate.speed.median), finding.unit,
                 ShortNumber(candidate.speed.min), ShortNumber(candidate.speed.max));
    }
  }
  fmt::print("\nkept in {}; run and serve use it, and flags win over it\n", TuningPath());
}

Result<int> Forget(const SessionFlags& flags) {
  const auto kernels = WishedKernels(flags);
  if (!kernels) return Failure(kernels.error());
  const auto forgotten = ForgetSettings(MachineKey((*kernels)->name));
  if (!forgotten) return Failure(forgotten.error());
  fmt::print("{}\n", *forgotten ? "forgotten" : "nothing was tuned for this machine");
  return 0;
}

Result<int> Tune(const TuneFlags& flags) {
  if (flags.forget) return Forget(flags.session);
  // The same model twice, for what is done to the pages of one of them.
  SessionFlags session = flags.session;
  session.threads = static_cast<int>(ChooseCpus().size());
  const auto opened = OpenModel(session);
  if (!opened) return Failure(opened.error());
  const auto fresh = OpenModel(session);
  if (!fresh) return Failure(fresh.error());
  const int usual = session.threads;
  const int granted = GrantedCores();
  const InterruptScope interrupt;
  ProgressLine progress;
  constexpr double kStages = 6;  // threads are measured twice
  const auto tuning = TuneEngine(
      opened->model, fresh->model,
      {.threads = ThreadCandidates(usual, std::max(usual, granted)),
       .usual_threads = usual,
       .stage_seconds = flags.seconds / kStages,
       .make_team = MakeTeam},
      interrupt.token(), [&](double share, std::string_view what) { progress.Show(share, what); });
  progress.Wipe();
  if (!tuning) return Failure(tuning.error());
  const char* kernels = opened->model.kernels().name;
  const std::string key = MachineKey(kernels);
  VIVACE_RETURN_IF_ERROR(RememberSettings(key, tuning->settings));
  RememberPrefetch(TuningKey(ReadCpuModel(), kernels, tuning->settings.threads),
                   tuning->settings.prefetch);
  if (flags.json) {
    std::cout << ToJson(*tuning, key, opened->name).dump() << '\n';
  } else {
    Print(*tuning, opened->name);
  }
  return 0;
}

}  // namespace

void AddTune(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<TuneFlags>();
  CLI::App* command =
      app.add_subcommand("tune", "Finds and keeps the fastest settings for this machine")
          ->group("Measuring");
  command->add_option("MODEL", flags->session.model,
                      "What to measure with (default: qwen2.5-0.5b-instruct)");
  command->add_option("--kernels", flags->session.kernels, "Instruction set, as in vivace run");
  command->add_option("--seconds", flags->seconds, "Time for it, about")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  command->add_flag("--forget", flags->forget, "Go back to what the program chooses by itself");
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  command->footer("Close other programs first: they share memory and processors.");
  command->callback([&slot, flags] { slot.body = [flags] { return Tune(*flags); }; });
}

}  // namespace vivace
