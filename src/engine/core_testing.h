// What the tests of EngineCore share: a core of the tiny model with its team.
#pragma once

#include <stop_token>

#include "engine/core.h"
#include "engine/testing.h"
#include "model/page_shape.h"

namespace vivace {

inline constexpr std::int64_t kContext = 256;
inline constexpr std::int64_t kContextPages = kContext / kPagePositions;

inline std::int64_t PageBytes() {
  const Config& config = TestModel().config();
  const PageShape shape = PageShapeOf(config);
  return static_cast<std::int64_t>(shape.page_bytes());
}

inline EngineOptions Options(std::int64_t pages = 8 * kContextPages) {
  // Steps that do not depend on what rows cost here.
  return {.context = kContext, .kv_bytes = pages * PageBytes(), .speculation = Speculation::kOff};
}

// A core with its team.
struct Bench {
  explicit Bench(const EngineOptions& options, int threads = 1, const Model& model = TestModel())
      : team({.threads = threads}), core(std::move(*EngineCore::Create(model, team, options))) {}

  void Add(GenerateRequest request, Outcome& outcome, std::stop_token cancel = {}) {
    const auto checked = core->Check(request);
    ASSERT_TRUE(checked.has_value()) << checked.error().message;
    core->Add({.request = std::move(request),
               .sink = Record(outcome),
               .cancel = std::move(cancel),
               .arrival_ms = NowMs()});
  }
  Outcome Run(GenerateRequest request) {
    Outcome outcome;
    Add(std::move(request), outcome);
    Drain();
    return outcome;
  }
  void Drain() {
    while (core->Step()) {
    }
  }
  // Every page is free or idle in the cache: nothing was lost.
  void ExpectNothingHeld() {
    EXPECT_EQ(core->pool().available() + core->cache().idle_pages(), core->pool().capacity());
    EXPECT_EQ(core->cache().pages(), core->cache().idle_pages());
  }

  ThreadTeam team;
  std::unique_ptr<EngineCore> core;
};

}  // namespace vivace
