// What meeting at a barrier, starting a job and sharing a loop cost, per team size.
#include <benchmark/benchmark.h>

#include "base/quota.h"
#include "base/thread_team.h"

namespace vivace {
namespace {

ThreadTeam MakeTeam(const benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  return ThreadTeam(
      {.threads = threads, .spin = std::chrono::microseconds(threads <= GrantedCores() ? 50 : 0)});
}

void BM_Barrier(benchmark::State& state) {
  constexpr int kBarriers = 1000;
  ThreadTeam team = MakeTeam(state);
  for (auto _ : state) {
    team.Run([](TeamMember& member) {
      for (int i = 0; i < kBarriers; ++i) member.Barrier();
    });
  }
  state.SetItemsProcessed(state.iterations() * kBarriers);
}

void BM_Run(benchmark::State& state) {
  ThreadTeam team = MakeTeam(state);
  for (auto _ : state) team.Run([](TeamMember&) {});
  state.SetItemsProcessed(state.iterations());
}

// One item is one chunk handed out; loops of 64 chunks with a barrier after each.
void BM_ForEachChunk(benchmark::State& state) {
  constexpr int kLoops = 100;
  ThreadTeam team = MakeTeam(state);
  for (auto _ : state) {
    team.Run([](TeamMember& member) {
      for (int i = 0; i < kLoops; ++i) {
        member.ForEachChunk(
            64, 1, [](std::int64_t begin, std::int64_t) { benchmark::DoNotOptimize(begin); });
        member.Barrier();
      }
    });
  }
  state.SetItemsProcessed(state.iterations() * kLoops * 64);
}

// The same as phases whose pieces can be done again.
void BM_Phase(benchmark::State& state) {
  constexpr int kPhases = 100;
  ThreadTeam team = MakeTeam(state);
  for (auto _ : state) {
    team.Run([](TeamMember& member) {
      for (int i = 0; i < kPhases; ++i) {
        member.Phase(
            {.count = 64, .chunk = 1, .redo = true}, [] {},
            [](std::int64_t begin, std::int64_t) { benchmark::DoNotOptimize(begin); },
            [](std::int64_t begin, std::int64_t) { benchmark::DoNotOptimize(begin); });
      }
    });
  }
  state.SetItemsProcessed(state.iterations() * kPhases * 64);
}

BENCHMARK(BM_Barrier)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->UseRealTime();
BENCHMARK(BM_Run)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->UseRealTime();
BENCHMARK(BM_ForEachChunk)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->UseRealTime();
BENCHMARK(BM_Phase)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->UseRealTime();

}  // namespace
}  // namespace vivace
