// Continuous batching on a real model: tokens per second over all sequences, for 1, 4 and
// 16 of them, and how long a running stream waits while a long prompt is evaluated.
//
// usage: engine_bench MODEL.gguf [--threads=N] [--packed=FOLDER] [Google Benchmark's flags]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/clock.h"
#include "base/thread_team.h"
#include "engine/core.h"
#include "kernels/dispatch.h"
#include "model/loader.h"

namespace vivace {
namespace {

std::unique_ptr<ThreadTeam> team;
std::optional<Model> model;

// Some text-like tokens, another text for each seed.
std::vector<TokenId> Prompt(std::int64_t length, std::uint32_t seed) {
  const auto vocab = static_cast<std::uint32_t>(model->config().vocab_size);
  std::vector<TokenId> tokens;
  for (std::int64_t i = 0; i < length; ++i) {
    seed = seed * 1664525U + 1013904223U;
    tokens.push_back(static_cast<TokenId>((seed >> 8) % std::min(vocab, 20000U)));
  }
  return tokens;
}

std::unique_ptr<EngineCore> MakeCore() {
  auto core = EngineCore::Create(*model, *team,
                                 {.context = 2048, .max_running = 32, .kv_bytes = 1LL << 30});
  if (!core) std::abort();
  return std::move(*core);
}

void Add(
    EngineCore& core, std::vector<TokenId> prompt, std::int64_t tokens, float temperature,
    EventSink sink = [](const Event&) {}) {
  GenerateRequest request = {.prompt = std::move(prompt), .max_tokens = tokens, .ignore_end = true};
  request.sampling.temperature = temperature;
  core.Add({.request = std::move(request),
            .sink = std::move(sink),
            .cancel = {},
            .arrival_ms = NowMs()});
}

// range(0) sequences that decode, range(1) percent of temperature 1.
void Decode(benchmark::State& state) {
  const auto core = MakeCore();
  const std::int64_t sequences = state.range(0);
  for (std::int64_t i = 0; i < sequences; ++i) {
    Add(*core, Prompt(32, static_cast<std::uint32_t>(i)), -1,
        static_cast<float>(state.range(1)) / 100.0F);
  }
  while (core->metrics().decode_steps.value() < 3) core->Step();
  for (auto _ : state) core->Step();
  state.counters["tok/s"] = benchmark::Counter(static_cast<double>(state.iterations() * sequences),
                                               benchmark::Counter::kIsRate);
}
BENCHMARK(Decode)
    ->ArgsProduct({{1, 2, 4, 8, 16, 32}, {0, 80}})
    ->ArgNames({"sequences", "temperature"})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void Prefill(benchmark::State& state) {
  const auto core = MakeCore();
  std::uint32_t seed = 100;
  for (auto _ : state) {
    Add(*core, Prompt(state.range(0), ++seed), 0, 0);
    while (core->Step()) {
    }
  }
  state.counters["tok/s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * state.range(0)), benchmark::Counter::kIsRate);
}
BENCHMARK(Prefill)->Arg(512)->ArgName("tokens")->UseRealTime()->Unit(benchmark::kMillisecond);

// A stream decodes while prompts of 600 tokens come one after the other: the gaps between
// its tokens, in ms.
void StreamBesidePrompts(benchmark::State& state) {
  const auto core = MakeCore();
  std::vector<double> gaps;
  double last = 0;
  Add(*core, Prompt(32, 1), -1, 0, [&](const Event& event) {
    if (!std::holds_alternative<TokenEvent>(event)) return;
    const double now = NowMs();
    if (last > 0) gaps.push_back(now - last);
    last = now;
  });
  for (int i = 0; i < 20; ++i) core->Step();
  std::uint32_t seed = 7;
  for (auto _ : state) {
    bool done = false;
    Add(*core, Prompt(600, ++seed), 0, 0,
        [&](const Event& event) { done = done || std::holds_alternative<DoneEvent>(event); });
    gaps.clear();
    while (!done) core->Step();
  }
  std::ranges::sort(gaps);
  state.counters["gap_p50"] = gaps[gaps.size() / 2];
  state.counters["gap_max"] = gaps.back();
}
BENCHMARK(StreamBesidePrompts)->UseRealTime()->Iterations(3)->Unit(benchmark::kMillisecond);

// The value of "--NAME=" in the arguments, or `fallback`.
std::string Flag(int argc, char** argv, const std::string& name, const std::string& fallback) {
  const std::string start = "--" + name + "=";
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]).starts_with(start)) return argv[i] + start.size();
  }
  return fallback;
}

int Run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 2) {
    std::fprintf(stderr, "usage: engine_bench MODEL.gguf [--threads=N] [--packed=FOLDER]\n");
    return 2;
  }
  const std::string cores = std::to_string(std::thread::hardware_concurrency());
  const int threads = std::max(1, std::atoi(Flag(argc, argv, "threads", cores).c_str()));
  team = std::make_unique<ThreadTeam>(ThreadTeam::Options{.threads = threads});
  LoadOptions options;
  options.packed_folder = Flag(argc, argv, "packed", "");
  auto loaded = LoadModel(argv[1], **SelectKernels(""), *team, options);
  if (!loaded) {
    std::fprintf(stderr, "engine_bench: %s\n", loaded.error().message.c_str());
    return 1;
  }
  model.emplace(std::move(loaded->model));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace vivace

int main(int argc, char** argv) { return vivace::Run(argc, argv); }
