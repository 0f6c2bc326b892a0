#include "app/session.h"

#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

#include "app/fetch.h"
#include "app/tuning_file.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/cpu_choice.h"
#include "base/quota.h"
#include "hub/home.h"
#include "kernels/dispatch.h"

namespace vivace {
namespace {

constexpr int kMaxThreads = 256;
constexpr std::int64_t kMaxContext = 1 << 20;
constexpr std::int64_t kMaxChunk = 4096;

// Shows how far packing is, where it takes long enough to notice.
class PackProgress {
 public:
  explicit PackProgress(std::string name) : name_(std::move(name)), start_(NowMs()) {}
  void operator()(double share) {
    if (NowMs() - start_ < 500 && !shown_) return;
    if (isatty(STDERR_FILENO) == 0) return;
    shown_ = true;
    fmt::print(stderr, "\rpreparing {} for this machine, once: {:3.0f} %{}", name_, 100 * share,
               share >= 1 ? "\n" : "");
  }

 private:
  std::string name_;
  double start_;
  bool shown_ = false;
};

}  // namespace

void AddModelFlags(CLI::App& command, SessionFlags& flags) {
  command.add_option("MODEL", flags.model,
                     "A .gguf file, a catalogue name with optional :quant, or hf:org/repo/file "
                     "(default: qwen2.5-0.5b-instruct)");
  command
      .add_option("--threads", flags.threads, "Threads; 0 is as tuned, else one per granted core")
      ->check(CLI::Range(0, kMaxThreads));
  command.add_option("--kernels", flags.kernels,
                     "Instruction set: portable, avx2, avxvnni, avx512, avx512gfni, amx");
  command.add_flag("--no-pack", flags.no_pack, "Keep the packed model in memory, write no file");
}

void AddSpeculationFlags(CLI::App& command, SessionFlags& flags, const std::string& group) {
  command
      .add_option("--draft-model", flags.draft_model,
                  "A smaller model of the same vocabulary that guesses, too; no answer changes")
      ->group(group);
  command
      .add_flag_callback(
          "--no-speculation", [&flags] { flags.speculation = Speculation::kOff; },
          "One token of an answer at a time, however likely the next ones are")
      ->group(group);
  // For tests: drafts do not depend on how fast the machine is.
  command
      .add_flag_callback(
          "--always-speculate", [&flags] { flags.speculation = Speculation::kAlways; },
          "Verify every draft, also where that is slower")
      ->group("");
}

void AddSessionFlags(CLI::App& command, SessionFlags& flags) {
  AddModelFlags(command, flags);
  command.add_option("--ctx", flags.context, "Positions of context")
      ->check(CLI::Range(std::int64_t{16}, kMaxContext))
      ->capture_default_str();
  AddSpeculationFlags(command, flags);
  command
      .add_option("--prompt-chunk", flags.prompt_chunk,
                  "Prompt tokens evaluated at once (default: as tuned, else 256)")
      ->check(CLI::Range(std::int64_t{1}, kMaxChunk));
}

std::unique_ptr<ThreadTeam> MakeTeam(int threads) {
  const int granted = GrantedCores();
  if (threads == 0) threads = static_cast<int>(ChooseCpus().size());
  // Spinning only where every thread has a core of its own.
  const std::chrono::microseconds spin(threads <= granted ? 50 : 0);
  return std::make_unique<ThreadTeam>(
      ThreadTeam::Options{.threads = threads, .cpus = {}, .spin = spin});
}

Result<const KernelTable*> WishedKernels(const SessionFlags& flags) {
  if (!flags.kernels.empty()) return SelectKernels(flags.kernels);
  const char* name = std::getenv("VIVACE_KERNELS");
  return SelectKernels(name == nullptr ? "" : name);
}

Result<OpenedModel> OpenModel(const SessionFlags& flags,
                              const std::function<void(double)>& progress) {
  const auto kernels = WishedKernels(flags);
  if (!kernels) return Failure(kernels.error());
  const auto resolved = FetchIfMissing(flags.model);
  if (!resolved) return Failure(resolved.error());
  const auto tuned = RememberedSettings(MachineKey((*kernels)->name));
  TunedSettings settings = tuned.value_or(TunedSettings{});
  if (flags.threads > 0) settings.threads = flags.threads;
  if (flags.prompt_chunk > 0) settings.prompt_chunk = flags.prompt_chunk;
  auto team = MakeTeam(settings.threads);
  LoadOptions options;
  if (!flags.no_pack) options.packed_folder = PackedFolder();
  options.progress = [&progress, show = PackProgress(resolved->name)](double share) mutable {
    show(share);
    progress(share);
  };
  options.warn = [](const std::string& line) { fmt::print(stderr, "vivace: {}\n", line); };
  auto loaded = LoadModel(resolved->path, **kernels, *team, options);
  if (!loaded) return Failure(std::move(loaded).error());
  return OpenedModel{.name = resolved->name,
                     .path = resolved->path,
                     .team = std::move(team),
                     .model = std::move(loaded->model),
                     .settings = settings,
                     .tuned = tuned.has_value()};
}

Result<std::optional<Model>> OpenDraftModel(const SessionFlags& flags) {
  if (flags.draft_model.empty() || flags.speculation == Speculation::kOff) return std::nullopt;
  SessionFlags draft = flags;
  draft.model = flags.draft_model;
  auto opened = OpenModel(draft);
  if (!opened) return Context(std::move(opened).error(), "--draft-model");
  return std::move(opened->model);
}

Session::~Session() {
  if (generator_ == nullptr || !generator_->prefetch().done()) return;
  const std::int64_t distance = generator_->prefetch().distance();
  if (RememberedPrefetch(tuning_key_) != distance) RememberPrefetch(tuning_key_, distance);
}

Result<std::unique_ptr<Session>> Session::Open(const SessionFlags& flags) {
  const double start = NowMs();
  auto opened = OpenModel(flags);
  if (!opened) return Failure(std::move(opened).error());
  auto draft_model = OpenDraftModel(flags);
  if (!draft_model) return Failure(std::move(draft_model).error());
  std::unique_ptr<Session> session(new Session());
  session->draft_model_ = std::move(*draft_model);
  session->name_ = opened->name;
  session->team_ = std::move(opened->team);
  session->model_ = std::move(opened->model);
  session->throttle_watch_.emplace(session->team_->size());
  session->tuning_key_ =
      TuningKey(ReadCpuModel(), session->model_->kernels().name, session->team_->size());
  auto generator =
      Generator::Create(*session->model_, *session->team_,
                        {.context = std::min(flags.context, session->model_->config().context),
                         .prompt_chunk = opened->settings.prompt_chunk,
                         .prefetch = RememberedTuning(session->tuning_key_),
                         .speculation = flags.speculation,
                         .draft_model = session->draft_model_ ? &*session->draft_model_ : nullptr});
  if (!generator) return Failure(std::move(generator).error());
  session->generator_ = std::move(*generator);
  session->load_ms_ = NowMs() - start;
  return session;
}

}  // namespace vivace
