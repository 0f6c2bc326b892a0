// Speed of the disk store from the system's page cache, in the shape of a 0.5B model: 24 layers,
// 2 heads of 64, 196 608 bytes a page. The argument is the number of pages; 37 are 600 tokens.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kv/page_pool.h"
#include "kv/page_store.h"

namespace vivace {
namespace {

constexpr PageFileKind kKind = {.root = {.low = 1, .high = 2},
                                .shape = {.layers = 24, .kv_heads = 2, .dim = 64}};
constexpr auto kPage = static_cast<std::size_t>(kPagePositions);

// A store in a temporary folder, and a path of pages.
struct Bench {
  explicit Bench(std::int64_t count)
      : folder(std::filesystem::temp_directory_path() /
               ("vivace_store_bench_" + std::to_string(getpid()))),
        store({.folder = folder, .max_bytes = std::int64_t{1} << 32}, kKind),
        pool(std::move(*PagePool::Create(kKind.shape, count))),
        tokens(static_cast<std::size_t>(count) * kPage) {
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<TokenId>(i * 7);
    PageName parent = kKind.root;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      pages.push_back(*pool.Acquire());
      std::memset(pages.back(), static_cast<int>(i + 1), kKind.shape.page_bytes());
      const PageTokens own = std::span(tokens).subspan(i * kPage).first<kPage>();
      parent = NameOfPage(parent, own);
      path.push_back({.name = parent, .tokens = own, .page = pages.back()});
    }
  }
  ~Bench() { std::filesystem::remove_all(folder); }
  void SetBytes(benchmark::State& state) const {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(pages.size()) *
                            static_cast<std::int64_t>(kKind.shape.page_bytes()));
  }

  std::string folder;
  PageStore store;
  PagePool pool;
  std::vector<TokenId> tokens;
  std::vector<std::uint16_t*> pages;
  std::vector<PageToStore> path;
  std::atomic<bool> stop = false;
};

void Write(benchmark::State& state) {
  Bench bench(state.range(0));
  for (auto _ : state) {
    if (bench.store.Write(bench.path, bench.stop) != state.range(0)) state.SkipWithError("failed");
    state.PauseTiming();
    bench.store.Clear();
    state.ResumeTiming();
  }
  bench.SetBytes(state);
}
BENCHMARK(Write)->Arg(37)->Arg(500)->Unit(benchmark::kMillisecond)->UseRealTime();

// `fresh`: into memory that nobody has touched, as after a start.
void Read(benchmark::State& state, bool fresh) {
  Bench bench(state.range(0));
  bench.store.Write(bench.path, bench.stop);
  for (auto _ : state) {
    state.PauseTiming();
    auto pool = PagePool::Create(kKind.shape, state.range(0));
    std::vector<std::uint16_t*> pages = bench.pages;
    if (fresh) {
      for (std::uint16_t*& page : pages) page = *pool->Acquire();
    }
    state.ResumeTiming();
    if (bench.store.Read(bench.tokens, 0, pages, bench.stop) != state.range(0)) {
      state.SkipWithError("failed");
    }
  }
  bench.SetBytes(state);
}
BENCHMARK_CAPTURE(Read, used_memory, false)
    ->Arg(37)
    ->Arg(500)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Read, fresh_memory, true)
    ->Arg(37)
    ->Arg(500)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// What a prompt costs of which nothing is there.
void Miss(benchmark::State& state) {
  Bench bench(state.range(0));
  bench.store.Write(bench.path, bench.stop);
  for (TokenId& token : bench.tokens) ++token;
  for (auto _ : state) {
    benchmark::DoNotOptimize(bench.store.Read(bench.tokens, 0, bench.pages, bench.stop));
  }
}
BENCHMARK(Miss)->Arg(37)->Arg(500)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace vivace
