// Kinds of requests beside plain answers: shifted contexts, embeddings, stop tokens.
#include "gtest/gtest.h"

#include "engine/core_testing.h"

namespace vivace {
namespace {

// What a sequence of such tokens says next, from nothing.
TokenId NextAfter(std::vector<TokenId> tokens) {
  Bench bench(Options());
  return bench
      .Run({.prompt = std::move(tokens), .sampling = Greedy(), .max_tokens = 1, .ignore_end = true})
      .tokens.front();
}

TEST(EngineCoreTest, AFullContextIsShifted) {
  constexpr std::int64_t kKeep = 20;
  const std::vector<TokenId> prompt = RandomTokens(kContext - 10, 5);
  const GenerateRequest request = {.prompt = prompt,
                                   .sampling = Greedy(),
                                   .max_tokens = 300,
                                   .ignore_end = true,
                                   .shift = true,
                                   .keep = kKeep};
  Bench bench(Options());
  const Outcome outcome = bench.Run(request);
  bench.ExpectNothingHeld();
  ASSERT_EQ(outcome.tokens.size(), 300U);
  EXPECT_EQ(outcome.reason, FinishReason::kLength);
  constexpr std::int64_t kDropped = (kContext - kKeep) / 2;
  EXPECT_EQ(outcome.timings.dropped_tokens, 3 * kDropped);
  // The token after the first shift is the one that follows what was kept.
  std::vector<TokenId> kept = prompt;
  kept.insert(kept.end(), outcome.tokens.begin(), outcome.tokens.begin() + 10);
  kept.erase(kept.begin() + kKeep, kept.begin() + kKeep + kDropped);
  EXPECT_EQ(outcome.tokens[10], NextAfter(kept));
  // In company and from the cache it is the same answer.
  Outcome again;
  Outcome other;
  bench.Add(request, again);
  bench.Add({.prompt = RandomTokens(100, 6), .max_tokens = 100, .ignore_end = true}, other);
  bench.Drain();
  EXPECT_TRUE(again.SameAnswer(outcome));
  bench.ExpectNothingHeld();
}

TEST(EngineCoreTest, AShiftedAnswerWithoutALimitEnds) {
  Bench bench(Options());
  const Outcome outcome = bench.Run(
      {.prompt = RandomTokens(50, 5), .sampling = Greedy(), .ignore_end = true, .shift = true});
  EXPECT_EQ(outcome.tokens.size(), static_cast<std::size_t>(kContext));
  EXPECT_EQ(outcome.reason, FinishReason::kLength);
}

TEST(EngineCoreTest, EmbeddingsDependOnTheirPromptOnly) {
  const std::vector<TokenId> prompt = RandomTokens(70, 5);
  const GenerateRequest request = {.prompt = prompt, .max_tokens = 0, .embed = true};
  Bench alone(Options());
  const Outcome first = alone.Run(request);
  ASSERT_EQ(first.embedding.size(), 64U);
  double squares = 0;
  for (const float value : first.embedding) squares += double{value} * double{value};
  EXPECT_NEAR(squares, 1, 1e-6);
  EXPECT_EQ(first.timings.cached_tokens, 0);
  EngineOptions options = Options();
  options.prompt_chunk = 7;
  Bench company(options, 2);
  Outcome again;
  Outcome text;
  Outcome other;
  company.Add({.prompt = prompt, .max_tokens = 20}, text);
  company.Add(request, again);
  company.Add({.prompt = RandomTokens(40, 6), .max_tokens = 0, .embed = true}, other);
  company.Drain();
  EXPECT_EQ(again.embedding, first.embedding);
  EXPECT_NE(other.embedding, first.embedding);
  EXPECT_EQ(company.Run(request).embedding, first.embedding);
  company.ExpectNothingHeld();
  EXPECT_TRUE(text.SameAnswer(alone.Run({.prompt = prompt, .max_tokens = 20})));
}

// The log-probabilities of a prompt's tokens, by rows that were asked for one at a time.
TEST(EngineCoreTest, PromptsAreScored) {
  const std::vector<TokenId> prompt = RandomTokens(70, 5);
  const GenerateRequest request = {.prompt = prompt,
                                   .sampling = Greedy(),
                                   .max_tokens = 3,
                                   .logprobs = 4,
                                   .ignore_end = true,
                                   .score_prompt = true};
  Bench alone(Options());
  const Outcome first = alone.Run(request);
  ASSERT_EQ(first.scores.size(), prompt.size() - 1);
  EXPECT_EQ(first.timings.cached_tokens, 0);
  for (const std::ptrdiff_t length : {1, 16, 17, 69}) {
    const auto at = static_cast<std::size_t>(length);
    const Choice& score = first.scores[at - 1];
    EXPECT_EQ(score.token, prompt[at]);
    ASSERT_EQ(score.top.size(), 4U);
    const std::vector<TokenId> first_tokens(prompt.begin(), prompt.begin() + length);
    const Outcome plain = Bench(Options()).Run({.prompt = first_tokens,
                                                .sampling = Greedy(),
                                                .max_tokens = 1,
                                                .logprobs = 4,
                                                .ignore_end = true});
    EXPECT_EQ(score.top.front().token, plain.tokens.front());
    EXPECT_EQ(score.top.front().logprob, plain.logprobs.front());
  }
  // In pieces, in company, and with a prompt that is cached already; without an answer, too.
  EngineOptions options = Options();
  options.prompt_chunk = 7;
  Bench company(options, 2);
  Outcome again;
  Outcome text;
  GenerateRequest silent = request;
  silent.max_tokens = 0;
  company.Add({.prompt = prompt, .sampling = Greedy(), .max_tokens = 20}, text);
  company.Add(silent, again);
  company.Drain();
  EXPECT_TRUE(again.tokens.empty());
  const Outcome third = company.Run(request);
  EXPECT_TRUE(third.SameAnswer(first));
  for (const Outcome* outcome : {&std::as_const(again), &third}) {
    ASSERT_EQ(outcome->scores.size(), first.scores.size());
    for (std::size_t i = 0; i < first.scores.size(); ++i) {
      EXPECT_EQ(outcome->scores[i].logprob, first.scores[i].logprob) << i;
    }
  }
  company.ExpectNothingHeld();
}

TEST(EngineCoreTest, AStopTokenEndsTheAnswer) {
  Bench bench(Options());
  GenerateRequest request = {
      .prompt = RandomTokens(30, 5), .sampling = Greedy(), .max_tokens = 20, .ignore_end = true};
  const Outcome free = bench.Run(request);
  request.stop_tokens = {free.tokens[5]};
  const Outcome stopped = bench.Run(request);
  const auto end = std::ranges::find(free.tokens, free.tokens[5]);
  EXPECT_EQ(stopped.tokens, std::vector<TokenId>(free.tokens.begin(), end));
  EXPECT_EQ(stopped.reason, FinishReason::kStopString);
  EXPECT_EQ(stopped.stopping_word, TestModel().tokenizer().Piece(free.tokens[5]));
}

// A sequence that shifts computes anew what it shared with another one.
TEST(EngineCoreTest, SharedPagesAreNotPromisedToASequenceThatShifts) {
  for (const std::int64_t pages : {kContextPages, kContextPages + 4, 2 * kContextPages - 4}) {
    Bench bench(Options(pages));
    std::vector<Outcome> outcomes(3);
    for (std::uint32_t i = 0; i < outcomes.size(); ++i) {
      GenerateRequest request = {
          .prompt = RandomTokens(200, 1), .max_tokens = i == 2 ? 10 : 300, .ignore_end = true};
      request.prompt.push_back(static_cast<TokenId>(i));
      request.shift = i != 2;
      bench.Add(std::move(request), outcomes[i]);
    }
    bench.Drain();
    EXPECT_EQ(outcomes[0].tokens.size(), 300U);
    EXPECT_EQ(outcomes[1].tokens.size(), 300U);
    EXPECT_EQ(outcomes[2].tokens.size(), 10U);
    bench.ExpectNothingHeld();
  }
}

}  // namespace
}  // namespace vivace
