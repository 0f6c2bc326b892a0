// Session: what the commands that compute have in common: flags, the loaded model, the
// thread team and a generator.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "app/throttle_watch.h"
#include "base/result.h"
#include "base/thread_team.h"
#include "engine/generator.h"
#include "measure/engine_tuning.h"
#include "model/loader.h"

namespace vivace {

struct SessionFlags {
  std::string model;  // "" is the default model
  int threads = 0;    // 0: as tuned, else one per core that the container grants
  std::string kernels;
  std::int64_t context = 4096;
  std::int64_t prompt_chunk = 0;  // 0: as tuned, else the engine's own
  bool no_pack = false;
  Speculation speculation = Speculation::kWhenItPays;
  std::string draft_model = {};  // that guesses, too; "": none
};

// The positional MODEL (optional: the default model), --threads, --kernels and --no-pack.
void AddModelFlags(CLI::App& command, SessionFlags& flags);
// --no-speculation and --draft-model, in a group of the help.
void AddSpeculationFlags(CLI::App& command, SessionFlags& flags,
                         const std::string& group = "Options");
// All of the flags above.
void AddSessionFlags(CLI::App& command, SessionFlags& flags);

// What --kernels, else VIVACE_KERNELS asks for, else the best that this machine has.
Result<const KernelTable*> WishedKernels(const SessionFlags& flags);

// 0 threads: one for each core that the machine and the container grant.
std::unique_ptr<ThreadTeam> MakeTeam(int threads);

class Session {
 public:
  // Fetches the model if it is in the catalogue and not here yet, loads it and says on
  // stderr what takes longer than a second.
  static Result<std::unique_ptr<Session>> Open(const SessionFlags& flags);

  const Model& model() const { return *model_; }
  Generator& generator() { return *generator_; }
  const std::string& name() const { return name_; }
  double load_ms() const { return load_ms_; }
  int threads() const { return team_->size(); }

  // Remembers what the generator has found out about the machine.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  Session() = default;

  std::string name_;
  std::unique_ptr<ThreadTeam> team_;
  std::optional<Model> model_;
  std::optional<Model> draft_model_;
  std::unique_ptr<Generator> generator_;
  std::optional<ThrottleWatch> throttle_watch_;
  std::string tuning_key_;
  double load_ms_ = 0;
};

// The model only, without the memory that computing needs.
struct OpenedModel {
  std::string name;
  std::string path;
  std::unique_ptr<ThreadTeam> team;
  Model model;
  // What was tuned for this machine, with the flags' values where those were given.
  TunedSettings settings;
  bool tuned = false;
};
// `progress` is called with the share done where that takes longer.
Result<OpenedModel> OpenModel(
    const SessionFlags& flags, const std::function<void(double)>& progress = [](double) {});
// The one that flags.draft_model names; nothing where there is none.
Result<std::optional<Model>> OpenDraftModel(const SessionFlags& flags);

}  // namespace vivace
