// The engine's thread: submitting, cancelling and asking from other threads.
#include "engine/engine.h"

#include <malloc.h>
#include <sys/resource.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

#include "gtest/gtest.h"

#include "engine/testing.h"

namespace vivace {
namespace {

using namespace std::chrono_literals;

// The allocator of a sanitizer keeps what was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPlainAllocator = false;
#else
constexpr bool kPlainAllocator = true;
#endif

// An Outcome that another thread waits for.
class Pending {
 public:
  EventSink Sink() {
    return [this, record = Record(outcome_)](const Event& event) {
      const std::lock_guard lock(mutex_);
      record(event);
      changed_.notify_all();
    };
  }
  // Until the request is done.
  const Outcome& Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return outcome_.reason.has_value(); });
    return outcome_;
  }
  void WaitForTokens(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return outcome_.tokens.size() >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Outcome outcome_;
};

class EngineTest : public testing::Test {
 protected:
  explicit EngineTest() { Start({.context = 512, .kv_bytes = 16 << 20}); }

  void Start(const EngineOptions& options) {
    engine_.reset();
    auto engine = Engine::Create(TestModel(), team_, options);
    ASSERT_TRUE(engine.has_value()) << engine.error().message;
    engine_ = std::move(*engine);
  }
  void Submit(GenerateRequest request, Pending& pending, std::stop_token cancel = {}) {
    const auto submitted = engine_->Submit(std::move(request), pending.Sink(), std::move(cancel));
    ASSERT_TRUE(submitted.has_value()) << submitted.error().message;
  }
  static GenerateRequest Endless(std::uint32_t seed = 1) {
    return {.prompt = RandomTokens(20, seed), .max_tokens = -1, .ignore_end = true};
  }

  ThreadTeam team_{{.threads = 2}};
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, ServesRequestsOfManyThreads) {
  ThreadTeam team({.threads = 1});
  auto core = EngineCore::Create(TestModel(), team, {.context = 512});
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kEach = 10;
  std::vector<Pending> pending(kThreads * kEach);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = t * kEach; i < (t + 1) * kEach; ++i) {
        Submit(MixedRequest(i), pending[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t i = 0; i < pending.size(); ++i) {
    Outcome alone;
    (*core)->Add({.request = MixedRequest(i), .sink = Record(alone), .cancel = {}});
    while ((*core)->Step()) {
    }
    EXPECT_TRUE(pending[i].Wait().SameAnswer(alone)) << "request " << i;
  }
}

TEST_F(EngineTest, RefusesBadRequestsAtOnce) {
  Pending pending;
  const auto submitted = engine_->Submit({.prompt = {}}, pending.Sink(), {});
  ASSERT_FALSE(submitted.has_value());
  EXPECT_EQ(submitted.error().kind, ErrorKind::kBadInput);
}

TEST_F(EngineTest, RefusesWhatItsQueueCannotHold) {
  Start({.context = 512, .max_running = 1, .max_waiting = 2});
  // Holds the engine's thread up, so that nothing is admitted meanwhile.
  std::latch running(1);
  std::latch full(1);
  const auto first = engine_->Submit({.prompt = {1}, .max_tokens = 1},
                                     [&](const Event& event) {
                                       if (!std::holds_alternative<AdmittedEvent>(event)) return;
                                       running.count_down();
                                       full.wait();
                                     },
                                     {});
  ASSERT_TRUE(first.has_value());
  running.wait();
  std::vector<Pending> pending(3);
  Submit({.prompt = {2}, .max_tokens = 1}, pending[0]);
  Submit({.prompt = {3}, .max_tokens = 1}, pending[1]);
  const auto refused = engine_->Submit({.prompt = {4}, .max_tokens = 1}, pending[2].Sink(), {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::kExhausted);
  EXPECT_EQ(refused.error().message, "2 requests are waiting, allowed is up to 2");
  full.count_down();
  pending[0].Wait();
  pending[1].Wait();
  Submit({.prompt = {4}, .max_tokens = 1}, pending[2]);
  EXPECT_EQ(pending[2].Wait().reason, FinishReason::kLength);
}

TEST_F(EngineTest, CancelsFromOutside) {
  std::stop_source stop;
  Pending pending;
  Submit(Endless(), pending, stop.get_token());
  pending.WaitForTokens(3);
  stop.request_stop();
  const Outcome& outcome = pending.Wait();
  EXPECT_TRUE(outcome.reason == FinishReason::kCancelled ||
              outcome.reason == FinishReason::kLength);
}

TEST_F(EngineTest, EndingItTellsEveryRequest) {
  Start({.context = 512, .max_running = 2});
  std::vector<Pending> pending(5);
  for (Pending& request : pending) Submit(Endless(), request);
  pending[0].WaitForTokens(1);
  engine_.reset();
  std::size_t cancelled = 0;
  for (Pending& request : pending) {
    cancelled += request.Wait().reason == FinishReason::kCancelled ? 1 : 0;
  }
  EXPECT_GE(cancelled, 1U);
}

TEST_F(EngineTest, ASinkMaySubmit) {
  Pending second;
  std::latch done(1);
  const auto submitted = engine_->Submit({.prompt = {1, 2}, .max_tokens = 1},
                                         [&](const Event& event) {
                                           if (!std::holds_alternative<DoneEvent>(event)) return;
                                           Submit({.prompt = {3, 4}, .max_tokens = 1}, second);
                                           done.count_down();
                                         },
                                         {});
  ASSERT_TRUE(submitted.has_value());
  done.wait();
  second.Wait();
}

TEST_F(EngineTest, ReportsAndClearsTheCache) {
  Pending pending;
  GenerateRequest kept{.prompt = RandomTokens(50, 1), .max_tokens = 0};
  kept.cache_id = "mine";
  Submit(std::move(kept), pending);
  pending.Wait();
  std::latch reported(1);
  Engine::CacheReport report;
  engine_->ReportCache([&](const Engine::CacheReport& now) {
    report = now;
    reported.count_down();
  });
  reported.wait();
  ASSERT_EQ(report.conversations.size(), 1U);
  EXPECT_EQ(report.conversations[0].label, "mine");
  EXPECT_EQ(report.conversations[0].tokens, 50);
  EXPECT_GE(report.conversations[0].left_ms, 0);
  EXPECT_EQ(report.pages_cached, 4);
  EXPECT_EQ(report.pages_in_use, 0);
  EXPECT_EQ(report.pages, (16 << 20) / report.page_bytes);
  for (const std::int64_t expected : {4, 0}) {
    std::latch cleared(1);
    std::int64_t freed = -1;
    engine_->ClearCache("mine", [&](std::int64_t pages) {
      freed = pages;
      cleared.count_down();
    });
    cleared.wait();
    EXPECT_EQ(freed, expected);
  }
}

TEST_F(EngineTest, SleepsWithoutRequests) {
  Pending pending;
  Submit({.prompt = {1}, .max_tokens = 1}, pending);
  pending.Wait();
  std::this_thread::sleep_for(50ms);
  const auto cpu_us = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec;
  };
  const auto before = cpu_us();
  const std::int64_t steps = engine_->metrics().steps.value();
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(engine_->metrics().steps.value(), steps);
  EXPECT_LT(cpu_us() - before, 100000);
}

TEST_F(EngineTest, LendsItsTeamOnlyWhileNoRequestIsThere) {
  const auto lent = [&] {
    std::promise<ThreadTeam*> team;
    engine_->LendTeam([&](ThreadTeam* given) { team.set_value(given); });
    return team.get_future().get();
  };
  EXPECT_EQ(lent(), &team_);
  Pending pending;
  std::stop_source stop;
  Submit(Endless(), pending, stop.get_token());
  EXPECT_EQ(lent(), nullptr);
  stop.request_stop();
  pending.Wait();
  EXPECT_EQ(lent(), &team_);
}

TEST_F(EngineTest, AThousandRequestsLeaveNoMemoryBehind) {
  if (!kPlainAllocator) GTEST_SKIP() << "needs the plain allocator";
  Start({.context = 512});
  const auto run = [&](std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t i = first; i < first + count; ++i) {
      Pending pending;
      GenerateRequest request = MixedRequest(i);
      request.max_tokens = 3;
      Submit(std::move(request), pending);
      pending.Wait();
    }
  };
  run(0, 300);  // fills the cache and every buffer
  const std::size_t before = mallinfo2().uordblks;
  run(300, 1000);
  EXPECT_LT(mallinfo2().uordblks, before + (64 << 10));
}

}  // namespace
}  // namespace vivace
