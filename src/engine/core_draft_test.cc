// Drafts change no answer: on the tiny model, with every kind of request, against a core
// without them. kAlways verifies all that is drafted, however bad.
#include <stop_token>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "engine/core_testing.h"

namespace vivace {
namespace {

constexpr std::uint32_t kRequests = 500;

EngineOptions With(Speculation speculation) {
  EngineOptions options = Options();
  options.speculation = speculation;
  return options;
}

std::int64_t Accepted(const EngineCore& core) {
  std::int64_t accepted = 0;
  for (const auto& count : core.metrics().accepted) accepted += count.value();
  return accepted;
}

std::vector<Outcome> RunAlone(Bench& bench) {
  std::vector<Outcome> outcomes;
  for (std::uint32_t seed = 0; seed < kRequests; ++seed) {
    outcomes.push_back(bench.Run(MixedRequest(seed)));
  }
  return outcomes;
}

const std::vector<Outcome>& Expected() {
  static const std::vector<Outcome> outcomes = [] {
    Bench plain(With(Speculation::kOff));
    return RunAlone(plain);
  }();
  return outcomes;
}

void ExpectSame(const std::vector<Outcome>& outcomes) {
  ASSERT_EQ(outcomes.size(), Expected().size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_TRUE(outcomes[i].SameAnswer(Expected()[i])) << "request " << i;
    EXPECT_EQ(outcomes[i].timings.decoded_tokens, Expected()[i].timings.decoded_tokens) << i;
  }
}

TEST(CoreDrafts, NothingIsDraftedWithoutSpeculation) {
  Bench plain(With(Speculation::kOff));
  for (const Outcome& outcome : RunAlone(plain)) EXPECT_EQ(outcome.timings.drafted_tokens, 0);
  Bench bench(With(Speculation::kAlways));
  for (int i = 0; i < 3; ++i) {
    GenerateRequest request = MixedRequest(4);
    request.speculation = false;
    EXPECT_EQ(bench.Run(std::move(request)).timings.drafted_tokens, 0);
  }
}

// The second time, earlier answers say it all.
TEST(CoreDrafts, AnswersAreTheSameAlone) {
  Bench bench(With(Speculation::kAlways));
  ExpectSame(RunAlone(bench));
  const std::int64_t before = Accepted(*bench.core);
  ExpectSame(RunAlone(bench));
  EXPECT_GT(Accepted(*bench.core) - before, 500);
  bench.ExpectNothingHeld();
}

TEST(CoreDrafts, AnswersAreTheSameInCompanyForAnyNumberOfThreads) {
  for (const int threads : {1, 3}) {
    Bench bench(With(Speculation::kAlways), threads);
    for (int round = 0; round < 2; ++round) {
      std::vector<Outcome> outcomes(kRequests);
      for (std::uint32_t seed = 0; seed < kRequests; ++seed) {
        bench.Add(MixedRequest(seed), outcomes[seed]);
        if (seed % 3 == 0) bench.core->Step();
      }
      bench.Drain();
      ExpectSame(outcomes);
    }
    EXPECT_GT(Accepted(*bench.core), 100);
    bench.ExpectNothingHeld();
  }
}

TEST(CoreDrafts, AnswersAreTheSameWhenItPays) {
  Bench bench(With(Speculation::kWhenItPays));
  ExpectSame(RunAlone(bench));
  ExpectSame(RunAlone(bench));
}

TEST(CoreDrafts, AShiftedContextGoesOnTheSame) {
  for (const bool sampled : {false, true}) {
    GenerateRequest request = {.prompt = RandomTokens(200, 9), .max_tokens = 300};
    request.shift = true;
    request.keep = 16;
    request.ignore_end = true;
    request.sampling.temperature = sampled ? 1.0F : 0.0F;
    Bench plain(With(Speculation::kOff));
    const Outcome expected = plain.Run(request);
    Bench bench(With(Speculation::kAlways));
    for (int i = 0; i < 2; ++i) {
      const Outcome outcome = bench.Run(request);
      EXPECT_TRUE(outcome.SameAnswer(expected));
      EXPECT_EQ(outcome.timings.dropped_tokens, expected.timings.dropped_tokens);
      EXPECT_GT(outcome.timings.drafted_tokens, 0);
    }
    bench.ExpectNothingHeld();
  }
}

// Up to the last token of the context, and exactly as many as were asked for.
TEST(CoreDrafts, LimitsHoldInMidDraft) {
  for (const std::int64_t most : {1, 2, 3, 7, 40, -1}) {
    GenerateRequest request = {.prompt = RandomTokens(200, 5), .max_tokens = most};
    request.sampling = Greedy();
    request.ignore_end = true;
    Bench bench(With(Speculation::kAlways));
    for (int i = 0; i < 2; ++i) {
      const Outcome outcome = bench.Run(request);
      EXPECT_EQ(static_cast<std::int64_t>(outcome.tokens.size()), most < 0 ? kContext - 200 : most);
      EXPECT_EQ(outcome.reason, FinishReason::kLength);
    }
    bench.ExpectNothingHeld();
  }
}

TEST(CoreDrafts, ACancelledAnswerIsABeginningOfTheWholeOne) {
  Bench bench(With(Speculation::kAlways));
  GenerateRequest request = {.prompt = RandomTokens(30, 2), .max_tokens = 100};
  request.sampling = Greedy();
  request.ignore_end = true;
  const Outcome whole = bench.Run(request);
  for (std::size_t at = 1; at < 12; ++at) {
    std::stop_source stop;
    Outcome outcome;
    const EventSink record = Record(outcome);
    bench.core->Add({.request = request,
                     .sink =
                         [&](const Event& event) {
                           record(event);
                           if (outcome.tokens.size() == at) stop.request_stop();
                         },
                     .cancel = stop.get_token(),
                     .arrival_ms = NowMs()});
    bench.Drain();
    EXPECT_EQ(outcome.reason, FinishReason::kCancelled);
    EXPECT_EQ(outcome.tokens.size(), at);
    EXPECT_TRUE(std::equal(outcome.tokens.begin(), outcome.tokens.end(), whole.tokens.begin()));
    EXPECT_TRUE(whole.text.starts_with(outcome.text));
  }
  EXPECT_TRUE(bench.Run(request).SameAnswer(whole));
  bench.ExpectNothingHeld();
}

TEST(CoreDrafts, OwnersDoNotLearnFromEachOther) {
  Bench bench(With(Speculation::kAlways));
  GenerateRequest request = {.prompt = RandomTokens(30, 3), .max_tokens = 60};
  request.ignore_end = true;
  request.sampling.seed = 5;
  const auto accepted = [&](std::uint64_t owner) {
    request.owner = owner;
    return bench.Run(request).timings.accepted_tokens;
  };
  const std::int64_t first = accepted(1);
  EXPECT_EQ(accepted(2), first);
  EXPECT_GT(accepted(1), first + 20);
  bench.core->ClearCache("");
  EXPECT_EQ(accepted(1), first);
}

TEST(CoreDrafts, KnowsItsAnswersAfterARestart) {
  const FileTree files("core_drafts");
  EngineOptions options = With(Speculation::kAlways);
  options.answers_folder = files.root() + "answers";
  GenerateRequest request = {.prompt = RandomTokens(30, 3), .max_tokens = 60};
  request.ignore_end = true;
  Outcome before;
  {
    Bench bench(options);
    before = bench.Run(request);
  }
  Bench bench(options);
  const Outcome after = bench.Run(request);
  EXPECT_TRUE(after.SameAnswer(before));
  EXPECT_GT(after.timings.accepted_tokens, before.timings.accepted_tokens + 20);
}

}  // namespace
}  // namespace vivace
