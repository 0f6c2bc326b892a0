// vivace bench serve: how fast chat servers answer, side by side.
#include <iostream>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench.h"
#include "app/human.h"
#include "app/interrupts.h"
#include "app/progress.h"
#include "hub/disk.h"
#include "measure/serve_page.h"
#include "measure/serve_report.h"

namespace vivace {
namespace {

constexpr int kMostRounds = 10'000;
constexpr int kMaxClients = 512;
constexpr std::size_t kMaxServers = 8;

struct ServeBenchFlags {
  ServeBenchOptions options;
  std::vector<std::string> urls;
  std::vector<std::string> workloads;
  std::string model;
  std::string html;
  bool seed_given = false;
  bool json = false;
};

Result<ServeBenchOptions> OptionsOf(const ServeBenchFlags& flags) {
  ServeBenchOptions options = flags.options;
  if (flags.urls.size() > kMaxServers) {
    return Fail(ErrorKind::kBadInput, fmt::format("{} servers are given, allowed are 1 to {}",
                                                  flags.urls.size(), kMaxServers));
  }
  for (const std::string& url : flags.urls) {
    auto target = ParseServeTarget(url);
    if (!target) return Failure(std::move(target).error());
    target->model = flags.model;
    options.targets.push_back(*std::move(target));
  }
  auto workloads = WorkloadsOf(flags.workloads);
  if (!workloads) return Failure(std::move(workloads).error());
  options.workloads = *std::move(workloads);
  // A server may still know the texts of an earlier run.
  if (!flags.seed_given) options.seed = std::random_device()();
  return options;
}

Result<int> BenchServe(const ServeBenchFlags& flags) {
  const auto options = OptionsOf(flags);
  if (!options) return Failure(options.error());
  const InterruptScope interrupt;
  ProgressLine progress;
  const auto result =
      RunServeBench(*options, interrupt.token(),
                    [&](double share, std::string_view what) { progress.Show(share, what); });
  progress.Wipe();
  if (!result) return Failure(result.error());
  const ServeReport report = {.options = *options,
                              .servers = FiguresOf(*result, options->workloads),
                              .machine = ReadMachineFacts(),
                              .seconds = result->seconds,
                              .interrupted = result->interrupted};
  if (!flags.html.empty()) VIVACE_RETURN_IF_ERROR(WriteFile(flags.html, ServePage(report)));
  if (flags.json) {
    std::cout << ServeJson(report).dump(-1, ' ', false,
                                        nlohmann::ordered_json::error_handler_t::replace)
              << '\n';
  } else {
    fmt::print("{}", Printable(ServeText(report)));
    if (!flags.html.empty()) fmt::print("page: {}\n", flags.html);
  }
  return report.interrupted ? kExitInterrupted : 0;
}

void AddFlags(CLI::App& command, ServeBenchFlags& flags) {
  ServeBenchOptions& options = flags.options;
  command
      .add_option("--url", flags.urls,
                  "Servers, with commas between: http://HOST:PORT or NAME=http://HOST:PORT")
      ->delimiter(',')
      ->required();
  command
      .add_option("--workloads", flags.workloads,
                  "With commas between: chat-short, chat-multi-turn, long-prompt, code, json, rag, "
                  "edit, shared-system-prompt (default: all)")
      ->delimiter(',');
  command.add_option("--rounds", options.rounds, "Rounds after the warm-up")
      ->check(CLI::Range(1, kMostRounds))
      ->capture_default_str();
  CLI::Option* clients = command
                             .add_option("--concurrency", options.concurrency,
                                         "Clients that each ask as soon as they have their answer")
                             ->check(CLI::Range(1, kMaxClients))
                             ->capture_default_str();
  command
      .add_option("--rate", options.rate,
                  "Requests a second at random moments, instead of clients that wait")
      ->check(CLI::Range(0.001, 10'000.0))
      ->excludes(clients);
  command
      .add_option("--requests", options.requests,
                  "Chats of each workload and round (default: one for each client; 8 with --rate)")
      ->check(CLI::Range(1, 100'000));
  command
      .add_option("--max-tokens", options.max_tokens,
                  "Longest answer (default: 32 to 160, by workload)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  command.add_option("--model", flags.model, "The model's name (default: the first it lists)");
  command.add_option("--api-key", options.api_key, "Sent as a bearer token");
  command
      .add_option("--timeout", options.silence_s,
                  "Seconds without a byte after which a request has failed")
      ->check(CLI::Range(1.0, 86'400.0))
      ->capture_default_str();
  command.add_option("--html", flags.html, "Write a page with plots to this file");
  command.add_flag("--json", flags.json, "One JSON array on standard output");
}

}  // namespace

void AddBenchServe(CLI::App& bench, CommandSlot& slot) {
  auto flags = std::make_shared<ServeBenchFlags>();
  CLI::App* command = bench.add_subcommand(
      "serve", "How fast chat servers answer: any with OpenAI's API, side by side");
  AddFlags(*command, *flags);
  CLI::Option* seed = command->add_option("--seed", flags->options.seed,
                                          "Of the texts; a repeated one may find them in caches");
  command->footer(
      "Examples:\n"
      "  vivace bench serve --url http://127.0.0.1:8080\n"
      "  vivace bench serve --url ours=http://127.0.0.1:8080,theirs=http://127.0.0.1:8081 --html "
      "answers.html\n"
      "  vivace bench serve --url http://127.0.0.1:8080 --rate 2 --workloads chat-short,rag");
  command->callback([&slot, flags, seed] {
    flags->seed_given = seed->count() > 0;
    slot.body = [flags] { return BenchServe(*flags); };
  });
}

}  // namespace vivace
