// The disk store under the engine: what was computed once is found after a restart and by
// other engines, and whatever happens to the disk changes no byte of an answer.
#include "engine/page_courier.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <stop_token>

#include "gtest/gtest.h"

#include "engine/generator.h"
#include "engine/store_testing.h"

namespace vivace {
namespace {

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

TEST_F(PageCourierTest, ShiftsAndEmbeddingsGoTogetherWithTheStore) {
  const auto run = [&](bool store) {
    EngineOptions options = Options(2 * kContextPages - 4);
    if (!store) options.store = {};
    Start(options);
    std::vector<Outcome> outcomes(6);
    for (std::uint32_t i = 0; i < outcomes.size(); ++i) {
      GenerateRequest request = {
          .prompt = RandomTokens(180, i / 2), .max_tokens = 200, .ignore_end = true};
      request.shift = i < 4;
      request.embed = i == 5;
      if (request.embed) request.max_tokens = 0;
      if (!request.shift && !request.embed) request.max_tokens = 20;
      Add(std::move(request), outcomes[i]);
    }
    Drain();
    ExpectNothingHeld();
    return outcomes;
  };
  const std::vector<Outcome> plain = run(false);
  for (int restart = 0; restart < 3; ++restart) ExpectSame(run(true), plain);
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
  const std::stop_source stop;
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

TEST_F(PageCourierTest, ClearingReachesWhatIsBeingRead) {
  Start(Options());
  const GenerateRequest request = {.prompt = RandomTokens(100, 1), .max_tokens = 0};
  Run(request);
  Start(Options());
  Outcome outcome;
  Add(request, outcome);
  ASSERT_TRUE(core_->Step());  // waits until it is read, and no longer
  EXPECT_EQ(outcome.admitted, 0);
  core_->ClearCache("");
  Drain();
  EXPECT_EQ(outcome.timings.cached_tokens, 0);
  EXPECT_EQ(core_->metrics().pages_read.value(), 0);
  ExpectNothingHeld();
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

}  // namespace
}  // namespace vivace
