// The disk store while its threads stand still, and under engines with threads of their own.
#include <fstream>
#include <latch>
#include <thread>

#include "gtest/gtest.h"

#include "engine/engine.h"
#include "engine/store_testing.h"

namespace vivace {
namespace {

// The threads of the store stand still while its warnings are delivered: in a folder that
// is a file, reading and writing begin with one.
class SlowDiskTest : public PageCourierTest {
 protected:
  SlowDiskTest() { std::ofstream(folder()) << "a file"; }
  void TearDown() override {
    Release();
    core_.reset();
  }
  EngineOptions Slow(const std::string& what, std::int64_t pages = 8 * kContextPages) {
    EngineOptions options = Options(pages);
    options.store.warn = [this, what](const std::string& text) {
      if (text.find(what) == std::string::npos) return;
      reached_.count_down();
      released_.wait();
    };
    return options;
  }
  void Release() {
    if (!std::exchange(open_, true)) released_.count_down();
  }

  std::latch reached_{1};  // a thread stands still
  std::latch released_{1};
  bool open_ = false;
};

TEST_F(SlowDiskTest, OthersRunWhileOneWaitsForTheDisk) {
  Start(Slow("read"));
  Outcome waits;
  Outcome runs;
  Outcome cancelled;
  const std::stop_source stop;
  Add({.prompt = RandomTokens(100, 1), .max_tokens = 2, .ignore_end = true}, waits);
  Add({.prompt = RandomTokens(100, 2), .max_tokens = 2}, cancelled, stop.get_token());
  Add({.prompt = RandomTokens(10, 3), .max_tokens = 20, .ignore_end = true}, runs);
  while (runs.tokens.size() < 10) ASSERT_TRUE(core_->Step());
  EXPECT_EQ(waits.admitted, 0);
  EXPECT_EQ(core_->metrics().running.value(), 3);
  stop.request_stop();
  while (!runs.reason) ASSERT_TRUE(core_->Step());
  EXPECT_EQ(cancelled.reason, FinishReason::kCancelled);
  EXPECT_EQ(cancelled.admitted, 0);
  EXPECT_EQ(runs.tokens.size(), 20U);
  EXPECT_EQ(waits.admitted, 0);
  Release();
  Drain();
  EXPECT_EQ(waits.tokens.size(), 2U);
  EXPECT_EQ(waits.timings.cached_tokens, 0);
  // Reads end in their order: with this one, that of the cancelled request is over.
  Run({.prompt = RandomTokens(100, 4), .max_tokens = 0});
  ExpectNothingHeld();
}

TEST_F(SlowDiskTest, WaitingForTheDiskCanBeGivenUp) {
  Start(Slow("read"));
  std::vector<Outcome> outcomes(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    Add({.prompt = RandomTokens(100, i), .max_tokens = 2}, outcomes[i]);
  }
  Outcome first;
  Add({.prompt = {1}, .max_tokens = 1}, first);
  ASSERT_TRUE(core_->Step());
  core_->CancelAll();
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.reason, FinishReason::kCancelled);
  // The reads are still on their way; the next request of the same prompt joins one.
  Outcome again;
  Add({.prompt = RandomTokens(100, 0), .max_tokens = 2, .ignore_end = true}, again);
  Release();
  Drain();
  EXPECT_EQ(again.tokens.size(), 2U);
  Add({.prompt = RandomTokens(100, 0), .max_tokens = 2}, outcomes[0] = {});
  core_.reset();
  EXPECT_EQ(outcomes[0].reason, FinishReason::kCancelled);
}

TEST_F(SlowDiskTest, RunningWorkGetsThePagesThatWaitToBeWritten) {
  Start(Slow("written", 3 * kContextPages));
  Run({.prompt = RandomTokens(200, 0), .max_tokens = 0});
  reached_.wait();
  Run({.prompt = RandomTokens(200, 1), .max_tokens = 0});
  Run({.prompt = RandomTokens(200, 2), .max_tokens = 0});
  // One is in work and another one waits, 12 full pages each; a third would be too much.
  EXPECT_EQ(core_->pool().available() + core_->cache().idle_pages(), 3 * kContextPages - 24);
  Outcome big;
  Outcome bigger;
  Add({.prompt = RandomTokens(20, 9), .max_tokens = -1, .ignore_end = true}, big);
  Add({.prompt = RandomTokens(20, 8), .max_tokens = -1, .ignore_end = true}, bigger);
  while (!big.reason || !bigger.reason) ASSERT_TRUE(core_->Step());
  EXPECT_EQ(core_->pool().available() + core_->cache().idle_pages(), 3 * kContextPages - 12);
  Release();
  ExpectNothingHeld();
}

TEST_F(SlowDiskTest, ARequestWaitsForTheWriteInWork) {
  Start(Slow("written", kContextPages));
  Run({.prompt = RandomTokens(200, 1), .max_tokens = 0});
  reached_.wait();
  Outcome next;
  Add({.prompt = RandomTokens(20, 9), .max_tokens = -1, .ignore_end = true}, next);
  std::thread release([this] { released_.count_down(); });
  open_ = true;
  Drain();
  release.join();
  EXPECT_EQ(next.reason, FinishReason::kLength);
  ExpectNothingHeld();
}

TEST_F(SlowDiskTest, AnEngineThatSleepsOverAReadNoticesACancel) {
  const auto engine = std::move(*Engine::Create(TestModel(), team_, Slow("read")));
  const std::stop_source stop;
  std::latch done(1);
  Outcome outcome;
  const auto submitted = engine->Submit(
      {.prompt = RandomTokens(100, 1), .max_tokens = 2},
      [&, record = Record(outcome)](const Event& event) {
        record(event);
        if (outcome.reason) done.count_down();
      },
      stop.get_token());
  ASSERT_TRUE(submitted.has_value());
  while (engine->metrics().running.value() == 0) std::this_thread::yield();
  stop.request_stop();
  done.wait();
  EXPECT_EQ(outcome.reason, FinishReason::kCancelled);
  EXPECT_EQ(outcome.admitted, 0);
  Release();
}

class EngineStoreTest : public PageCourierTest {
 protected:
  static Outcome Ask(Engine& engine, GenerateRequest request) {
    Outcome outcome;
    std::latch done(1);
    const auto submitted = engine.Submit(std::move(request),
                                         [&, record = Record(outcome)](const Event& event) {
                                           record(event);
                                           if (std::holds_alternative<DoneEvent>(event))
                                             done.count_down();
                                         },
                                         {});
    EXPECT_TRUE(submitted.has_value());
    done.wait();
    return outcome;
  }
  static Engine::CacheReport Report(Engine& engine) {
    Engine::CacheReport report;
    std::latch done(1);
    engine.ReportCache([&](const Engine::CacheReport& now) {
      report = now;
      done.count_down();
    });
    done.wait();
    return report;
  }
};

TEST_F(EngineStoreTest, TwoEnginesShareAFolder) {
  ThreadTeam other_team({.threads = 1});
  const auto one = std::move(*Engine::Create(TestModel(), team_, Options()));
  const auto two = std::move(*Engine::Create(TestModel(), other_team, Options()));
  for (std::uint32_t i = 0; i < 6; ++i) {
    Engine& first = i % 2 == 0 ? *one : *two;
    Engine& second = i % 2 == 0 ? *two : *one;
    const GenerateRequest request = {
        .prompt = RandomTokens(100, i), .max_tokens = 10, .ignore_end = true};
    const Outcome computed = Ask(first, request);
    while (Report(first).disk_pages < 6 * (i + 1)) std::this_thread::yield();
    const Outcome found = Ask(second, request);
    EXPECT_TRUE(found.SameAnswer(computed));
    EXPECT_EQ(computed.timings.cached_tokens, 0);
    EXPECT_EQ(found.timings.cached_tokens, 96);
  }
  const Engine::CacheReport report = Report(*one);
  EXPECT_EQ(report.disk_pages, 36);
  EXPECT_GT(report.disk_bytes, 36 * report.page_bytes);
  std::latch cleared(1);
  one->ClearCache("", [&](std::int64_t) { cleared.count_down(); });
  cleared.wait();
  EXPECT_TRUE(Files().empty());
  EXPECT_EQ(Report(*one).disk_pages, 0);
}

TEST_F(EngineStoreTest, EnginesAtOnceChangeNoByte) {
  const std::vector<Outcome> plain = Plain();
  core_.reset();
  constexpr std::size_t kEngines = 3;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> threads;
    for (std::size_t e = 0; e < kEngines; ++e) {
      threads.emplace_back([&, e] {
        ThreadTeam team({.threads = 1});
        EngineOptions options = Options(4 * kContextPages);
        options.store.max_bytes = 100 * PageBytes();  // too few for all
        const auto engine = std::move(*Engine::Create(TestModel(), team, options));
        for (std::uint32_t i = 0; i < 50; ++i) {
          const std::uint32_t request = (i * 7 + static_cast<std::uint32_t>(e) * 13) % 100;
          EXPECT_TRUE(Ask(*engine, MixedRequest(request)).SameAnswer(plain[request])) << request;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(EngineStoreTest, EndingItLeavesWhatWasRunning) {
  Outcome cancelled;
  {
    const auto engine = std::move(*Engine::Create(TestModel(), team_, Options()));
    std::latch running(1);
    const auto submitted =
        engine->Submit({.prompt = RandomTokens(100, 1), .max_tokens = -1, .ignore_end = true},
                       [&, record = Record(cancelled)](const Event& event) {
                         record(event);
                         if (cancelled.tokens.size() == 1 && !cancelled.reason)
                           running.count_down();
                       },
                       {});
    ASSERT_TRUE(submitted.has_value());
    running.wait();
  }
  const auto engine = std::move(*Engine::Create(TestModel(), team_, Options()));
  EXPECT_EQ(Ask(*engine, {.prompt = RandomTokens(100, 1), .max_tokens = 0}).timings.cached_tokens,
            96);
}

}  // namespace
}  // namespace vivace
