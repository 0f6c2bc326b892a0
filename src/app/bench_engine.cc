// vivace bench engine: how fast a model reads and writes here, against the machine's limits.
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench.h"
#include "app/bench_speculation.h"
#include "app/human.h"
#include "app/progress.h"
#include "app/session.h"
#include "app/tuning_file.h"
#include "hub/disk.h"
#include "machine/limits.h"
#include "measure/engine_page.h"
#include "measure/engine_report.h"

namespace vivace {
namespace {

// What a benchmark takes at most where no number of rounds was asked for.
constexpr double kUsualSeconds = 60;
constexpr std::int64_t kMaxTokens = 1 << 20;
constexpr std::int64_t kMaxBatch = 256;
constexpr std::int64_t kMaxChunk = 4096;
constexpr int kMaxRounds = 1000;
// Of an answer by which drafts are measured.
constexpr std::int64_t kDraftedTokens = 200;

struct BenchFlags {
  SessionFlags session;
  EngineBenchOptions options;
  bool prompt_given = false;
  bool gen_given = false;
  bool rounds_given = false;
  std::string html;
  bool json = false;
  bool speculation = false;
};

// A model of short context is measured with what fits, unless a size was asked for.
void FitToContext(const BenchFlags& flags, std::int64_t context, EngineBenchOptions& options) {
  if (!flags.prompt_given) options.prompt = std::min(options.prompt, context);
  if (!flags.gen_given) options.gen = std::min(options.gen, std::max<std::int64_t>(context / 2, 1));
}

Result<int> BenchEngine(const BenchFlags& flags) {
  auto opened = OpenModel(flags.session);
  if (!opened) return Failure(std::move(opened).error());
  const Model& model = opened->model;
  EngineReport report = {.model = opened->name,
                         .architecture = model.config().architecture,
                         .kernels = model.kernels().name,
                         .threads = opened->team->size(),
                         .model_context = model.config().context,
                         .work = WorkOf(model),
                         .options = flags.options,
                         .result = {},
                         .machine = ReadMachineFacts()};
  EngineBenchOptions& options = report.options;
  FitToContext(flags, report.model_context, options);
  if (!flags.rounds_given) options.max_seconds = kUsualSeconds;
  options.memory = report.machine.memory.usable();
  options.read_bytes = ReadBytesFor(report.machine.l3_total, options.memory);
  const std::string key = TuningKey(report.machine.cpu.model, model.kernels().name, report.threads);
  const auto known = RememberedPrefetch(key);
  if (known) options.prefetch = PrefetchTuning(*known);
  ProgressLine progress;
  auto result =
      RunEngineBench(model, *opened->team, options,
                     [&](double share, std::string_view what) { progress.Show(share, what); });
  progress.Wipe();
  if (!result) return Failure(std::move(result).error());
  report.result = std::move(*result);
  if (!known) RememberPrefetch(key, report.result.prefetch.distance());
  if (!flags.html.empty()) VIVACE_RETURN_IF_ERROR(WriteFile(flags.html, EnginePage(report)));
  if (flags.json) {
    std::cout << EngineJson(report).dump(-1, ' ', false,
                                         nlohmann::ordered_json::error_handler_t::replace)
              << '\n';
  } else {
    fmt::print("{}", Printable(EngineText(report)));
    if (!flags.html.empty()) fmt::print("page: {}\n", flags.html);
  }
  return 0;
}

}  // namespace

void AddBenchEngine(CLI::App& bench, CommandSlot& slot) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command =
      bench.add_subcommand("engine", "Speed of prompts and answers, as shares of the limits");
  AddModelFlags(*command, flags->session);
  EngineBenchOptions& options = flags->options;
  command->add_flag(
      "--speculation", flags->speculation,
      "Instead: answers with and without drafts, by class of work; --gen tokens each");
  CLI::Option* prompt = command->add_option("--prompt", options.prompt, "Tokens of the main prompt")
                            ->check(CLI::Range(std::int64_t{1}, kMaxTokens))
                            ->capture_default_str();
  CLI::Option* gen = command->add_option("--gen", options.gen, "Tokens of the main answer")
                         ->check(CLI::Range(std::int64_t{1}, kMaxTokens))
                         ->capture_default_str();
  command->add_option("--batch", options.batch, "Answers written together, with commas between")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, kMaxBatch))
      ->capture_default_str();
  CLI::Option* rounds = command
                            ->add_option("--rounds", options.rounds,
                                         "Samples of each figure; unless given, a "
                                         "slow machine makes only three")
                            ->check(CLI::Range(1, kMaxRounds))
                            ->capture_default_str();
  command->add_option("--prompt-chunk", options.prompt_chunk, "Prompt tokens evaluated at once")
      ->check(CLI::Range(std::int64_t{1}, kMaxChunk))
      ->capture_default_str();
  command->add_option("--html", flags->html, "Write a page with plots to this file");
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  command->footer(
      "Example:\n"
      "  vivace bench engine smollm2-135m-instruct --html speed.html\n"
      "Takes about half a minute. Close other programs first: they share memory and processors.");
  command->callback([&slot, flags, prompt, gen, rounds] {
    flags->prompt_given = prompt->count() > 0;
    flags->gen_given = gen->count() > 0;
    flags->rounds_given = rounds->count() > 0;
    slot.body = [flags] {
      if (!flags->speculation) return BenchEngine(*flags);
      const std::int64_t tokens = flags->gen_given ? flags->options.gen : kDraftedTokens;
      return BenchSpeculation(flags->session, tokens, flags->json);
    };
  });
}

}  // namespace vivace
