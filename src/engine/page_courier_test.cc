// The disk store under the engine: what was computed once is found after a restart and by
// other engines, and whatever happens to the disk changes no byte of an answer.
#include "engine/page_courier.h"

#include <filesystem>
#include <fstream>
#include <latch>
#include <set>
#include <stop_token>

#include "gtest/gtest.h"

#include "engine/engine.h"
#include "engine/generator.h"
#include "engine/testing.h"

namespace vivace {
namespace {

constexpr std::int64_t kContext = 256;
constexpr std::int64_t kContextPages = kContext / kPagePositions;

std::int64_t PageBytes() {
  const Config& config = TestModel().config();
  const PageShape shape = {
      .layers = config.layers, .kv_heads = config.kv_heads, .dim = config.head_dim};
  return static_cast<std::int64_t>(shape.page_bytes());
}

// A folder for stores, and cores that come and go.
class PageCourierTest : public testing::Test {
 protected:
  EngineOptions Options(std::int64_t pages = 8 * kContextPages) {
    return {.context = kContext, .kv_bytes = pages * PageBytes(), .store = Store()};
  }
  PageStoreOptions Store() {
    return {.folder = folder(),
            .max_bytes = std::int64_t{1} << 30,
            .warn = [this](const std::string&) { ++warnings_; },
            .look_ms = 0,
            .retry_ms = 0};
  }
  std::string folder() const { return files_.root() + "kv"; }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder(), error)) {
      files.push_back(entry.path().string());
    }
    return files;
  }

  // As after a restart of the program.
  void Start(const EngineOptions& options) {
    core_.reset();
    core_ = std::move(*EngineCore::Create(TestModel(), team_, options));
  }
  void Add(GenerateRequest request, Outcome& outcome, std::stop_token cancel = {}) {
    ASSERT_TRUE(core_->Check(request).has_value());
    core_->Add({.request = std::move(request),
                .sink = Record(outcome),
                .cancel = std::move(cancel),
                .arrival_ms = NowMs()});
  }
  void Drain() {
    while (core_->Step()) {
    }
  }
  Outcome Run(GenerateRequest request) {
    Outcome outcome;
    Add(std::move(request), outcome);
    Drain();
    return outcome;
  }
  std::vector<Outcome> RunMany(std::uint32_t count) {
    std::vector<Outcome> outcomes(count);
    for (std::uint32_t i = 0; i < count; ++i) Add(MixedRequest(i), outcomes[i]);
    Drain();
    return outcomes;
  }
  void ExpectNothingHeld() {
    core_->Flush(60'000);
    EXPECT_EQ(core_->pool().available() + core_->cache().idle_pages(), core_->pool().capacity());
  }
  static void ExpectSame(const std::vector<Outcome>& a, const std::vector<Outcome>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].SameAnswer(b[i])) << i;
  }
  // What comes out without a store.
  const std::vector<Outcome>& Plain() {
    static const std::vector<Outcome> outcomes = [this] {
      EngineOptions options = Options();
      options.store = {};
      Start(options);
      return RunMany(100);
    }();
    return outcomes;
  }

  FileTree files_{"courier"};
  std::atomic<int> warnings_ = 0;
  ThreadTeam team_{{.threads = 1}};
  std::unique_ptr<EngineCore> core_;
};

TEST_F(PageCourierTest, ARestartChangesNoByte) {
  const std::vector<Outcome>& plain = Plain();
  for (int restart = 0; restart < 3; ++restart) {
    Start(Options());
    ExpectSame(RunMany(100), plain);
    ExpectNothingHeld();
    if (restart > 0) {
      EXPECT_GT(core_->metrics().pages_read.value(), 0);
    }
    if (restart == 0) {
      EXPECT_GT(core_->metrics().pages_written.value(), 0);
    }
  }
  EXPECT_EQ(warnings_, 0);
}

TEST_F(PageCourierTest, APromptIsComputedOnce) {
  Start(Options());
  const GenerateRequest request = {.prompt = RandomTokens(100, 1), .max_tokens = 0};
  EXPECT_EQ(Run(request).timings.cached_tokens, 0);
  Start(Options());
  const Outcome again = Run(request);
  EXPECT_EQ(again.timings.cached_tokens, 96);
  EXPECT_GT(again.timings.cache_ms, 0);
  EXPECT_EQ(again.admitted, 1);
  EXPECT_EQ(core_->metrics().prompt_tokens.value(), 4);
  EXPECT_EQ(core_->metrics().pages_read.value(), 6);
  EXPECT_EQ(Run(request).timings.cached_tokens, 99);  // now in memory
  EXPECT_EQ(core_->metrics().pages_read.value(), 6);
}

TEST_F(PageCourierTest, AConversationGoesOnAfterARestart) {
  Start(Options());
  auto prompt = RandomTokens(50, 2);
  for (int turn = 0; turn < 4; ++turn) {
    const Outcome answer = Run({.prompt = prompt, .max_tokens = 25, .ignore_end = true});
    const auto before = static_cast<std::int64_t>(prompt.size());
    EXPECT_EQ(answer.timings.cached_tokens, turn == 0 ? 0 : (before - 11) / 16 * 16) << turn;
    prompt.insert(prompt.end(), answer.tokens.begin(), answer.tokens.end());
    prompt.insert(prompt.end(), 10, 3);
    Start(Options());
  }
}

TEST_F(PageCourierTest, RequestsOfOneMomentReadOnce) {
  Start(Options());
  Run({.prompt = RandomTokens(100, 1), .max_tokens = 0});
  Start(Options());
  std::vector<Outcome> outcomes(4);
  for (Outcome& outcome : outcomes) {
    Add({.prompt = RandomTokens(100, 1), .max_tokens = 3, .ignore_end = true}, outcome);
  }
  Drain();
  EXPECT_EQ(core_->metrics().pages_read.value(), 6);
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.timings.cached_tokens, 96);
    EXPECT_TRUE(outcome.SameAnswer(outcomes[0]));
  }
  ExpectNothingHeld();
}

TEST_F(PageCourierTest, AJoinedReadIsGoneOnFrom) {
  Start(Options());
  auto longer = RandomTokens(100, 1);
  const auto tail = RandomTokens(80, 2);
  longer.insert(longer.end(), tail.begin(), tail.end());
  Run({.prompt = longer, .max_tokens = 0});
  Start(Options());
  std::vector<Outcome> outcomes(2);
  auto shorter = std::vector<TokenId>(longer.begin(), longer.begin() + 70);
  Add({.prompt = shorter, .max_tokens = 0}, outcomes[0]);
  Add({.prompt = longer, .max_tokens = 0}, outcomes[1]);
  Drain();
  EXPECT_EQ(outcomes[0].timings.cached_tokens, 64);
  EXPECT_EQ(outcomes[1].timings.cached_tokens, 176);
  EXPECT_EQ(core_->metrics().pages_read.value(), 11);
}

TEST_F(PageCourierTest, FewPagesDelayRequestsAndChangeNoByte) {
  const std::vector<Outcome>& plain = Plain();
  for (int restart = 0; restart < 3; ++restart) {
    Start(Options(kContextPages + 2));
    ExpectSame(RunMany(100), plain);
    ExpectNothingHeld();
  }
}

std::uint32_t Random(std::mt19937& random, std::uint32_t limit) {
  return static_cast<std::uint32_t>(random() % limit);
}

TEST_F(PageCourierTest, DamagedFilesAreComputedAgain) {
  const GenerateRequest request = {
      .prompt = RandomTokens(150, 1), .max_tokens = 20, .ignore_end = true};
  Start(Options());
  const Outcome first = Run(request);
  core_.reset();
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    ASSERT_FALSE(Files().empty());
    for (const std::string& path : Files()) {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      const auto size = static_cast<std::uint32_t>(std::filesystem::file_size(path));
      const std::uint32_t at = round % 2 == 0 ? Random(random, size) : Random(random, 1000);
      file.seekg(at);
      const int byte = file.get();
      file.seekp(at);
      file.put(static_cast<char>(byte ^ (1 << (round % 8))));
    }
    Start(Options());
    EXPECT_TRUE(Run(request).SameAnswer(first));
    Start(Options());
    const Outcome repaired = Run(request);
    EXPECT_TRUE(repaired.SameAnswer(first));
    EXPECT_EQ(repaired.timings.cached_tokens, 144);
    core_.reset();
  }
  EXPECT_EQ(warnings_, 0);
}

TEST_F(PageCourierTest, AFolderThatIsNoneCostsNothingButAWarning) {
  std::ofstream(folder()) << "a file";
  const std::vector<Outcome>& plain = Plain();
  Start(Options());
  ExpectSame(RunMany(100), plain);
  ExpectNothingHeld();
  EXPECT_EQ(warnings_, 2);
}

TEST_F(PageCourierTest, ShortPromptsAreNotWritten) {
  Start(Options());
  Run({.prompt = RandomTokens(63, 1), .max_tokens = 0});
  ExpectNothingHeld();
  EXPECT_TRUE(Files().empty());
  Run({.prompt = RandomTokens(64, 1), .max_tokens = 0});
  ExpectNothingHeld();
  EXPECT_EQ(Files().size(), 1U);
}

TEST_F(PageCourierTest, ALongPromptIsWrittenWhileItIsEvaluated) {
  EngineOptions options = Options();
  options.context = 2048;
  options.kv_bytes = 0;
  Start(options);
  std::stop_source stop;
  Outcome outcome;
  Add({.prompt = RandomTokens(2000, 1), .max_tokens = 0}, outcome, stop.get_token());
  while (outcome.progress.empty() || outcome.progress.back() < 1024) core_->Step();
  core_->Flush(60'000);
  EXPECT_GE(core_->metrics().pages_written.value(), 64);
  EXPECT_FALSE(outcome.reason.has_value());
  stop.request_stop();
  Drain();
  Start(options);
  Add({.prompt = RandomTokens(2000, 1), .max_tokens = 0}, outcome = {});
  Drain();
  EXPECT_GE(outcome.timings.cached_tokens, 1024);
}

TEST_F(PageCourierTest, ClearingForgetsWhatIsOnDisk) {
  Start(Options());
  const GenerateRequest mine = {
      .prompt = RandomTokens(100, 1), .max_tokens = 0, .cache_id = "mine"};
  const GenerateRequest other = {.prompt = RandomTokens(100, 2), .max_tokens = 0};
  Run(mine);
  Run(other);
  core_->Flush(60'000);
  EXPECT_EQ(Files().size(), 2U);
  EXPECT_EQ(core_->ClearCache("mine"), 7);
  EXPECT_EQ(Files().size(), 1U);
  Start(Options());
  EXPECT_EQ(Run(mine).timings.cached_tokens, 0);
  EXPECT_EQ(Run(other).timings.cached_tokens, 96);
  EXPECT_EQ(core_->ClearCache(""), 14);
  EXPECT_TRUE(Files().empty());
  EXPECT_EQ(Run(mine).timings.cached_tokens, 0);
  EXPECT_EQ(Run(other).timings.cached_tokens, 0);
}

TEST_F(PageCourierTest, TheGeneratorHasAStoreToo) {
  const GenerateRequest request = {
      .prompt = RandomTokens(100, 1), .max_tokens = 200, .ignore_end = true};
  std::string text;
  for (int restart = 0; restart < 3; ++restart) {
    auto generator = Generator::Create(TestModel(), team_, {.context = kContext, .store = Store()});
    ASSERT_TRUE(generator.has_value());
    // One context is all the memory: what is being written has to make room.
    for (std::uint32_t i = 0; i < 4; ++i) {
      GenerateRequest other = request;
      other.prompt = RandomTokens(200, 10 + i);
      EXPECT_TRUE((*generator)->Generate(other, {}, [](std::string_view) {}).has_value());
      const auto evaluated =
          (*generator)
              ->Evaluate(RandomTokens(250, i), [](std::int64_t, std::int64_t, const float*) {});
      EXPECT_TRUE(evaluated.has_value());
      const auto result = (*generator)->Generate(request, {}, [](std::string_view) {});
      ASSERT_TRUE(result.has_value());
      if (text.empty()) text = result->text;
      EXPECT_EQ(result->text, text);
      if (restart > 0) {
        EXPECT_EQ(result->timings.cached_tokens, 96);
      }
    }
  }
}

// The threads of the store stand still while its warnings are delivered: in a folder that
// is a file, reading and writing begin with one.
class SlowDiskTest : public PageCourierTest {
 protected:
  SlowDiskTest() { std::ofstream(folder()) << "a file"; }
  ~SlowDiskTest() override {
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
  std::stop_source stop;
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
