// Answers that follow a grammar: with forced tokens, in company, under limits.
#include <regex>

#include "gtest/gtest.h"

#include "constrain/grammar.h"
#include "engine/core_testing.h"

namespace vivace {
namespace {

GrammarCompiler& Compiler() {
  static GrammarCompiler compiler(TestModel().tokenizer(), TinyModel::kVocab, GrammarLimits{});
  return compiler;
}

ConstraintSpec Bound(const std::string& regex) {
  const auto grammar = Compiler().Compile({.kind = GrammarKind::kRegex, .text = regex});
  EXPECT_TRUE(grammar.has_value()) << grammar.error().message;
  return {.grammar = grammar ? *grammar : nullptr};
}

const std::string kForm =
    R"(\{name:[a-z]{1,9},numbers:\[[0-9]{1,3}(,[0-9]{1,3}){0,6}\],kind:(alpha|beta)\})";

GenerateRequest BoundRequest(std::uint32_t seed) {
  GenerateRequest request = {.prompt = RandomTokens(5 + seed % 40, seed), .max_tokens = 120};
  request.sampling.seed = seed;
  request.sampling.temperature = seed % 2 == 0 ? 0.0F : 1.0F;
  if (seed % 3 == 0) request.sampling.repeat_penalty = 1.2F;
  if (seed % 5 == 0) request.sampling.top_k = 0;
  request.constraint = Bound(kForm);
  return request;
}

class EngineCoreConstraintTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!GrammarCompiler::Available()) GTEST_SKIP();
  }
};

// The answers to request(0), request(1) ... when all are there before the first step.
template <class Request>
std::vector<Outcome> Together(Bench& bench, std::uint32_t count, const Request& request) {
  std::vector<Outcome> outcomes(count);
  for (std::uint32_t i = 0; i < count; ++i) bench.Add(request(i), outcomes[i]);
  bench.Drain();
  return outcomes;
}

TEST_F(EngineCoreConstraintTest, AnswersHaveTheirForm) {
  Bench bench(Options());
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Outcome outcome = bench.Run(BoundRequest(seed));
    EXPECT_EQ(outcome.reason, FinishReason::kStop);
    EXPECT_TRUE(std::regex_match(outcome.text, std::regex(kForm))) << outcome.text;
    EXPECT_GT(outcome.timings.forced_tokens, 10);
  }
  bench.ExpectNothingHeld();
}

TEST_F(EngineCoreConstraintTest, CompanyChunksAndThreadsChangeNothing) {
  constexpr std::uint32_t kCount = 24;
  const auto request = [&](std::uint32_t i) {
    return i % 3 == 2 ? MixedRequest(i) : BoundRequest(i);
  };
  std::vector<Outcome> alone;
  Bench one(Options());
  for (std::uint32_t i = 0; i < kCount; ++i) {
    alone.push_back(one.Run(request(i)));
    one.core->cache().Clear();
  }
  for (const int threads : {1, 2}) {
    for (const std::int64_t chunk : {1, 256}) {
      EngineOptions options = Options();
      options.prompt_chunk = chunk;
      Bench bench(options, threads);
      const std::vector<Outcome> outcomes = Together(bench, kCount, request);
      for (std::uint32_t i = 0; i < kCount; ++i) {
        EXPECT_TRUE(outcomes[i].SameAnswer(alone[i])) << i << " in pieces of " << chunk;
      }
      bench.ExpectNothingHeld();
    }
  }
}

// The second round knows the answers of the first.
TEST_F(EngineCoreConstraintTest, DraftsChangeNothing) {
  constexpr std::uint32_t kCount = 24;
  EngineOptions options = Options();
  options.speculation = Speculation::kOff;
  Bench plain(options);
  options.speculation = Speculation::kAlways;
  Bench drafting(options);
  for (const int round : {0, 1}) {
    std::int64_t accepted = 0;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const Outcome outcome = drafting.Run(BoundRequest(i));
      EXPECT_TRUE(outcome.SameAnswer(plain.Run(BoundRequest(i)))) << i << " in round " << round;
      accepted += outcome.timings.accepted_tokens;
    }
    EXPECT_GT(accepted, 100 * round);
  }
  std::vector<Outcome> outcomes(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) drafting.Add(BoundRequest(i), outcomes[i]);
  drafting.Drain();
  for (std::uint32_t i = 0; i < kCount; ++i) {
    EXPECT_TRUE(outcomes[i].SameAnswer(plain.Run(BoundRequest(i)))) << i;
  }
  drafting.ExpectNothingHeld();
}

// Beside the evaluation, alone and in company, with drafts and without.
TEST_F(EngineCoreConstraintTest, MasksAheadChangeNothing) {
  constexpr std::uint32_t kCount = 24;
  const auto request = [&](std::uint32_t i) {
    return i % 4 == 3 ? MixedRequest(i) : BoundRequest(i);
  };
  std::vector<Outcome> alone;
  Bench plain(Options());
  for (std::uint32_t i = 0; i < kCount; ++i) alone.push_back(plain.Run(request(i)));
  for (const auto speculation : {Speculation::kOff, Speculation::kAlways}) {
    EngineOptions options = Options();
    options.masks_ahead = true;
    options.speculation = speculation;
    Bench bench(options, 2);
    const std::vector<Outcome> outcomes = Together(bench, kCount, request);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      EXPECT_TRUE(outcomes[i].SameAnswer(alone[i])) << i;
      if (i % 4 == 3) continue;
      EXPECT_TRUE(bench.Run(BoundRequest(i)).SameAnswer(alone[i])) << i;
    }
    bench.ExpectNothingHeld();
  }
}

// A thread that computes masks ends with its engine, whatever became of the requests.
TEST_F(EngineCoreConstraintTest, MasksAheadMayBeCancelledAndFail) {
  EngineOptions options = Options();
  options.masks_ahead = true;
  Bench bench(options);
  std::vector<Outcome> outcomes(8);
  std::stop_source stop;
  for (std::uint32_t i = 0; i < 8; ++i) {
    bench.Add(BoundRequest(i), outcomes[i], i % 2 == 0 ? stop.get_token() : std::stop_token());
  }
  for (int step = 0; step < 5; ++step) bench.core->Step();
  stop.request_stop();
  bench.core->Step();
  for (std::uint32_t i = 0; i < 8; i += 2) {
    EXPECT_EQ(outcomes[i].reason, FinishReason::kCancelled) << i;
  }
  bench.core->CancelAll();
  bench.ExpectNothingHeld();
  GenerateRequest request = {.prompt = RandomTokens(9, 1), .max_tokens = 20};
  request.constraint = Bound("[a-c]{2}\u4e00");
  EXPECT_EQ(bench.Run(request).reason, FinishReason::kFailed);
}

TEST_F(EngineCoreConstraintTest, WithProbabilitiesNothingIsForcedAndAllIsTheSame) {
  Bench bench(Options());
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const Outcome plain = bench.Run(BoundRequest(seed));
    for (const bool kept : {false, true}) {
      GenerateRequest request = BoundRequest(seed);
      request.logprobs = 2;
      request.logprobs_of_kept = kept;
      const Outcome told = bench.Run(request);
      EXPECT_EQ(told.tokens, plain.tokens);
      EXPECT_EQ(told.text, plain.text);
      EXPECT_EQ(told.timings.forced_tokens, 0);
    }
  }
}

TEST_F(EngineCoreConstraintTest, LimitsAndStopStringsCutForcedTokens) {
  Bench bench(Options());
  const std::string whole = bench.Run(BoundRequest(1)).text;
  for (std::int64_t limit = 1; limit < 20; ++limit) {
    GenerateRequest request = BoundRequest(1);
    request.max_tokens = limit;
    const Outcome cut = bench.Run(request);
    EXPECT_EQ(cut.reason, FinishReason::kLength);
    EXPECT_EQ(static_cast<std::int64_t>(cut.tokens.size()), limit);
    EXPECT_TRUE(whole.starts_with(cut.text));
  }
  GenerateRequest request = BoundRequest(1);
  request.stop = {"umbers"};
  const Outcome stopped = bench.Run(request);
  EXPECT_EQ(stopped.reason, FinishReason::kStopString);
  EXPECT_TRUE(stopped.text.ends_with(",n"));
  bench.ExpectNothingHeld();
}

TEST_F(EngineCoreConstraintTest, ContextsAreNotExceeded) {
  for (const bool shift : {false, true}) {
    Bench bench(Options());
    GenerateRequest request = {.prompt = RandomTokens(kContext - 12, 3), .max_tokens = 60};
    request.shift = shift;
    request.constraint = Bound("[a-c]{3}(long){30}[a-c]{3}");
    const Outcome outcome = bench.Run(request);
    EXPECT_EQ(outcome.tokens.size(), shift ? 60U : 12U);
    EXPECT_EQ(outcome.reason, FinishReason::kLength);
    bench.ExpectNothingHeld();
  }
}

TEST_F(EngineCoreConstraintTest, LazyGrammarsWaitForTheirTrigger) {
  Bench bench(Options());
  GenerateRequest free = {.prompt = RandomTokens(20, 9), .max_tokens = 60, .ignore_end = true};
  free.sampling.seed = 4;
  const Outcome said = bench.Run(free);
  const std::string trigger = said.text.substr(said.text.size() / 2, 2);
  GenerateRequest lazy = free;
  lazy.constraint = Bound("(?s:..)[0-9]{4}");
  lazy.constraint.lazy = true;
  lazy.constraint.triggers = {{.word = trigger}};
  const Outcome bound = bench.Run(lazy);
  const std::size_t at = said.text.find(trigger);
  ASSERT_TRUE(bound.text.starts_with(said.text.substr(0, at + 2)));
  EXPECT_TRUE(std::regex_match(bound.text.substr(at), std::regex("..[0-9]{4}"))) << bound.text;
  EXPECT_EQ(bound.reason, FinishReason::kStop);
  lazy.constraint.triggers = {{.word = "no such words"}};
  EXPECT_TRUE(bench.Run(lazy).SameAnswer(said));
}

TEST_F(EngineCoreConstraintTest, WhereNothingCanFollowTheAnswerFails) {
  // The vocabulary has no character beyond ASCII but one.
  Bench bench(Options());
  GenerateRequest request = {.prompt = RandomTokens(9, 1), .max_tokens = 20};
  request.constraint = Bound("[a-c]{2}\u4e00");
  const Outcome outcome = bench.Run(request);
  EXPECT_EQ(outcome.reason, FinishReason::kFailed);
  EXPECT_FALSE(outcome.text.empty());
  bench.ExpectNothingHeld();
}

}  // namespace
}  // namespace vivace
