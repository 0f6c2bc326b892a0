#include "engine/core.h"

#include <set>
#include <stop_token>

#include "gtest/gtest.h"

#include "engine/core_testing.h"

namespace vivace {
namespace {

constexpr std::uint32_t kRequests = 200;

// Each request on its own, with nothing cached.
const std::vector<Outcome>& Alone() {
  static const std::vector<Outcome> outcomes = [] {
    std::vector<Outcome> alone;
    Bench bench(Options());
    for (std::uint32_t i = 0; i < kRequests; ++i) {
      alone.push_back(bench.Run(MixedRequest(i)));
      bench.core->cache().Clear();
    }
    return alone;
  }();
  return outcomes;
}

void ExpectSame(const std::vector<Outcome>& outcomes) {
  const std::vector<Outcome>& alone = Alone();
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_TRUE(outcomes[i].SameAnswer(alone[i])) << "request " << i;
  }
}

std::vector<Outcome> RunAll(Bench& bench) {
  std::vector<Outcome> outcomes(kRequests);
  for (std::uint32_t i = 0; i < kRequests; ++i) bench.Add(MixedRequest(i), outcomes[i]);
  bench.Drain();
  return outcomes;
}

TEST(EngineCoreTest, TheRequestsAreOfEveryKind) {
  std::set<FinishReason> reasons;
  std::size_t longest = 0;
  std::int64_t coarse = 0;
  for (const Outcome& outcome : Alone()) {
    reasons.insert(*outcome.reason);
    longest = std::max(longest, outcome.tokens.size());
    coarse += outcome.timings.coarse_tokens;
    EXPECT_EQ(outcome.timings.cached_tokens, 0);
  }
  EXPECT_EQ(reasons.size(), 3U);
  EXPECT_EQ(longest, 39U);
  EXPECT_GT(coarse, 100);
}

TEST(EngineCoreTest, CompanyAndCacheChangeNoByte) {
  Bench bench(Options());
  ExpectSame(RunAll(bench));
  bench.ExpectNothingHeld();
  EXPECT_GT(bench.core->metrics().decode_rows.value(),
            4 * bench.core->metrics().decode_steps.value());
  const std::int64_t cached = bench.core->metrics().prompt_tokens_cached.value();
  ExpectSame(RunAll(bench));
  EXPECT_GT(bench.core->metrics().prompt_tokens_cached.value(), 2 * cached);
  bench.ExpectNothingHeld();
}

TEST(EngineCoreTest, ThreadsAndCutsChangeNoByte) {
  struct Case {
    int threads;
    std::int64_t chunk;
    std::int64_t running;
    double stall_ms;
  };
  for (const Case& c :
       {Case{2, 256, 16, 50}, Case{3, 7, 16, 0}, Case{1, 1, 3, 50}, Case{2, 40, 40, 0}}) {
    EngineOptions options = Options();
    options.prompt_chunk = c.chunk;
    options.max_running = c.running;
    options.stall_budget_ms = c.stall_ms;
    Bench bench(options, c.threads);
    ExpectSame(RunAll(bench));
  }
}

TEST(EngineCoreTest, FewPagesDelayRequestsAndChangeNoByte) {
  Bench bench(Options(kContextPages + 2));
  ExpectSame(RunAll(bench));
  bench.ExpectNothingHeld();
  EXPECT_GT(bench.core->metrics().pages_evicted.value(), 0);
}

TEST(EngineCoreTest, WhatCannotRunIsRefused) {
  ThreadTeam team({.threads = 1});
  const auto small = EngineCore::Create(TestModel(), team, Options(kContextPages - 1));
  ASSERT_FALSE(small.has_value());
  EXPECT_EQ(small.error().kind, ErrorKind::kBadInput);
  const Bench bench(Options());
  const auto refused = [&](GenerateRequest request) {
    const auto checked = bench.core->Check(request);
    return !checked && checked.error().kind == ErrorKind::kBadInput;
  };
  EXPECT_TRUE(refused({.prompt = {}}));
  EXPECT_TRUE(refused({.prompt = {TinyModel::kVocab}}));
  EXPECT_TRUE(refused({.prompt = {-1}}));
  EXPECT_TRUE(refused({.prompt = std::vector<TokenId>(kContext, 1)}));
  EXPECT_FALSE(refused({.prompt = std::vector<TokenId>(kContext - 1, 1)}));
  GenerateRequest request = {.prompt = {1}};
  request.sampling.top_p = -1;
  EXPECT_TRUE(refused(request));
}

TEST(EngineCoreTest, AnAnswerEndsWhereTheContextIsFull) {
  Bench bench(Options());
  const Outcome outcome =
      bench.Run({.prompt = RandomTokens(kContext - 10, 1), .max_tokens = -1, .ignore_end = true});
  EXPECT_EQ(outcome.tokens.size(), 10U);
  EXPECT_EQ(outcome.reason, FinishReason::kLength);
}

TEST(EngineCoreTest, PrefixesAreFoundToTheToken) {
  Bench bench(Options());
  const auto prompt = RandomTokens(53, 3);
  const auto cached = [&](std::vector<TokenId> tokens) {
    return bench.Run({.prompt = std::move(tokens), .max_tokens = 0}).timings.cached_tokens;
  };
  EXPECT_EQ(cached(prompt), 0);
  EXPECT_EQ(cached(prompt), 52);  // three pages and most of the open one
  auto longer = prompt;
  longer.insert(longer.end(), 20, 7);
  EXPECT_EQ(cached(longer), 53);
  auto other = prompt;
  other[40] = (other[40] + 1) % 100;
  EXPECT_EQ(cached(other), 40);  // two pages and the common start of the third
  EXPECT_EQ(cached(std::vector<TokenId>(prompt.begin(), prompt.begin() + 33)), 32);
  EXPECT_EQ(cached({prompt[0]}), 0);  // at least one token is evaluated
}

TEST(EngineCoreTest, AnAnswerIsCachedForTheNextQuestion) {
  Bench bench(Options());
  auto prompt = RandomTokens(30, 4);
  const Outcome first = bench.Run({.prompt = prompt, .max_tokens = 20, .ignore_end = true});
  prompt.insert(prompt.end(), first.tokens.begin(), first.tokens.end());
  prompt.insert(prompt.end(), 5, 3);
  const Outcome second = bench.Run({.prompt = prompt, .max_tokens = 1});
  EXPECT_EQ(second.timings.cached_tokens, 49);  // the last token was never evaluated
}

TEST(EngineCoreTest, RequestsOfOneMomentShareAPrompt) {
  Bench bench(Options());
  std::vector<Outcome> outcomes(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    GenerateRequest request = {.prompt = RandomTokens(100, 5), .max_tokens = 8};
    request.sampling.seed = i;
    bench.Add(request, outcomes[i]);
  }
  bench.Drain();
  // Six pages once, and the last four tokens for each.
  EXPECT_EQ(bench.core->metrics().prompt_tokens.value(), 100 + 3 * 4);
  EXPECT_EQ(bench.core->metrics().prompt_tokens_cached.value(), 3 * 96);
}

TEST(EngineCoreTest, CancellingWorksAtEveryStage) {
  EngineOptions options = Options();
  options.max_running = 1;
  options.prompt_chunk = 16;
  Bench bench(options);
  std::stop_source waits;
  std::stop_source prefills;
  std::stop_source decodes;
  std::vector<Outcome> outcomes(4);
  const GenerateRequest request = {
      .prompt = RandomTokens(100, 6), .max_tokens = 50, .ignore_end = true};
  bench.Add(request, outcomes[0], prefills.get_token());
  bench.Add(request, outcomes[1], waits.get_token());
  bench.Add(request, outcomes[2], decodes.get_token());
  bench.core->Step();
  EXPECT_EQ(outcomes[0].progress, std::vector<std::int64_t>({16}));
  prefills.request_stop();
  waits.request_stop();
  bench.core->Step();
  EXPECT_EQ(outcomes[0].reason, FinishReason::kCancelled);
  EXPECT_EQ(outcomes[1].reason, FinishReason::kCancelled);
  EXPECT_EQ(outcomes[1].admitted, 0);
  EXPECT_EQ(outcomes[2].timings.cached_tokens, 16);  // what the cancelled one left
  while (outcomes[2].tokens.size() < 5) bench.core->Step();
  decodes.request_stop();
  EXPECT_FALSE(bench.core->Step());
  EXPECT_EQ(outcomes[2].reason, FinishReason::kCancelled);
  EXPECT_EQ(outcomes[2].tokens.size(), 5U);
  bench.ExpectNothingHeld();
  std::stop_source before;
  before.request_stop();
  bench.Add(request, outcomes[3], before.get_token());
  EXPECT_FALSE(bench.core->Step());
  EXPECT_EQ(outcomes[3].reason, FinishReason::kCancelled);
  EXPECT_EQ(bench.core->metrics().requests_cancelled.value(), 4);
}

TEST(EngineCoreTest, ShortPromptsOvertakeLongOnesButNotForEver) {
  EngineOptions options = Options();
  options.prompt_chunk = 16;
  Bench bench(options);
  Outcome slow;
  bench.Add({.prompt = RandomTokens(200, 1), .max_tokens = 0}, slow);
  bench.core->Step();
  std::vector<Outcome> shorts(40);
  std::size_t done_first = 0;
  for (std::uint32_t i = 0; i < shorts.size() && !slow.reason; ++i) {
    bench.Add({.prompt = RandomTokens(16, 100 + i), .max_tokens = 0}, shorts[i]);
    bench.core->Step();
    done_first += shorts[i].reason && !slow.reason ? 1 : 0;
  }
  EXPECT_GT(done_first, 5U);
  EXPECT_TRUE(slow.reason.has_value());
  bench.core->CancelAll();  // the outcomes go before the core
}

TEST(EngineCoreTest, ARunningStreamIsNotHeldUpByALongPrompt) {
  EngineOptions options = Options();
  options.stall_budget_ms = 0;  // the fewest rows a step takes
  Bench bench(options);
  Outcome stream;
  bench.Add({.prompt = {1, 2}, .max_tokens = 60, .ignore_end = true}, stream);
  bench.core->Step();
  Outcome prompt;
  bench.Add({.prompt = RandomTokens(160, 9), .max_tokens = 0}, prompt);
  std::size_t steps = 0;
  for (; !prompt.reason; ++steps) {
    const std::size_t before = stream.tokens.size();
    bench.core->Step();
    EXPECT_EQ(stream.tokens.size(), before + 1);
  }
  EXPECT_GE(steps, 10U);
  bench.core->CancelAll();
  EXPECT_EQ(stream.reason, FinishReason::kCancelled);
}

TEST(EngineCoreTest, TheBackgroundYieldsAndIsReplaced) {
  EngineOptions options = Options();
  options.prompt_chunk = 16;
  Bench bench(options);
  const auto background = [](std::size_t tokens, std::uint32_t seed, const char* name) {
    return GenerateRequest{.prompt = RandomTokens(tokens, seed),
                           .max_tokens = 0,
                           .priority = Priority::kBackground,
                           .cache_id = name};
  };
  Outcome ahead;
  Outcome real;
  bench.Add(background(150, 2, "a"), ahead);
  bench.core->Step();
  const std::size_t slices = ahead.progress.size();
  EXPECT_EQ(slices, 1U);
  bench.Add({.prompt = RandomTokens(20, 8), .max_tokens = 5, .ignore_end = true}, real);
  while (!real.reason) bench.core->Step();
  EXPECT_EQ(ahead.progress.size(), slices);
  bench.core->Step();
  EXPECT_EQ(ahead.progress.size(), slices + 1);

  Outcome newer;
  Outcome other;
  bench.Add(background(100, 2, "b"), other);
  bench.Add(background(160, 2, "a"), newer);
  EXPECT_EQ(ahead.reason, FinishReason::kCancelled);
  bench.Drain();
  EXPECT_EQ(other.reason, FinishReason::kLength);
  EXPECT_EQ(newer.reason, FinishReason::kLength);
  const Outcome after =
      bench.Run({.prompt = RandomTokens(160, 2), .max_tokens = 1, .cache_id = "a"});
  EXPECT_EQ(after.timings.cached_tokens, 159);
}

TEST(EngineCoreTest, BackgroundSlicesAreNotCutByTheStallBudgetAndChangeNoByte) {
  EngineOptions options = Options();
  options.stall_budget_ms = 0;
  const GenerateRequest question = {
      .prompt = RandomTokens(150, 2), .max_tokens = 20, .ignore_end = true};
  const GenerateRequest other = {.prompt = {1, 2, 3}, .max_tokens = 20, .ignore_end = true};
  Bench bench(options);
  GenerateRequest draft = question;
  draft.max_tokens = 0;
  draft.priority = Priority::kBackground;
  Outcome ahead;
  Outcome real;
  bench.Add(draft, ahead);
  bench.core->Step();
  EXPECT_EQ(ahead.progress, std::vector<std::int64_t>({32})) << "a stream would wait for 16";
  bench.Add(other, real);
  while (!real.reason) {
    bench.core->Step();
    EXPECT_EQ(ahead.progress.size(), 1U) << "what people wait for comes first";
  }
  bench.Drain();
  const Outcome answer = bench.Run(question);
  EXPECT_EQ(answer.timings.cached_tokens, 149);
  EXPECT_TRUE(answer.SameAnswer(Bench(Options()).Run(question)));
  EXPECT_TRUE(real.SameAnswer(Bench(Options()).Run(other)));
}

TEST(EngineCoreTest, TheBackgroundGivesItsPagesUp) {
  EngineOptions options = Options(kContextPages);
  options.prompt_chunk = 16;
  Bench bench(options);
  Outcome ahead;
  Outcome real;
  bench.Add({.prompt = RandomTokens(200, 2), .max_tokens = 0, .priority = Priority::kBackground},
            ahead);
  bench.core->Step();
  bench.Add({.prompt = RandomTokens(100, 3), .max_tokens = 100, .ignore_end = true}, real);
  bench.Drain();
  EXPECT_EQ(ahead.reason, FinishReason::kCancelled);
  EXPECT_EQ(real.tokens.size(), 100U);
  bench.ExpectNothingHeld();
}

TEST(EngineCoreTest, AConversationOutlivesOthersInTheCache) {
  Bench bench(Options(kContextPages + 8));
  const GenerateRequest kept = {.prompt = RandomTokens(64, 1), .max_tokens = 0, .cache_id = "kept"};
  bench.Run(kept);
  for (std::uint32_t i = 0; i < 20; ++i) {
    bench.Run({.prompt = RandomTokens(100, 50 + i), .max_tokens = 0});
  }
  const auto conversations = bench.core->cache().List();
  ASSERT_EQ(conversations.size(), 1U);
  EXPECT_EQ(conversations[0].label, "kept");
  EXPECT_EQ(conversations[0].tokens, 64);
  EXPECT_EQ(bench.Run(kept).timings.cached_tokens, 63);
}

TEST(EngineCoreTest, TimingsAndMetricsAddUp) {
  Bench bench(Options());
  const GenerateTimings t =
      bench.Run({.prompt = RandomTokens(40, 1), .max_tokens = 6, .ignore_end = true}).timings;
  EXPECT_EQ(t.prompt_tokens, 40);
  EXPECT_EQ(t.decoded_tokens, 6);
  EXPECT_GE(t.queue_ms, 0);
  EXPECT_GT(t.prefill_ms, 0);
  EXPECT_GE(t.first_token_ms, t.prefill_ms + t.queue_ms);
  EXPECT_GT(t.decode_ms, 0);
  const EngineMetrics& metrics = bench.core->metrics();
  EXPECT_EQ(metrics.requests_done.value(), 1);
  EXPECT_EQ(metrics.prompt_tokens.value(), 40);
  EXPECT_EQ(metrics.tokens_generated.value(), 6);
  EXPECT_EQ(metrics.steps.value(), 6);
  EXPECT_EQ(metrics.decode_steps.value(), 5);
  EXPECT_EQ(metrics.layer_reads.value(), 5);
  EXPECT_GT(metrics.layer_read_ms.value(), 0);
  EXPECT_LT(metrics.layer_read_ms.value(), metrics.step_ms.value());
  EXPECT_EQ(metrics.running.value(), 0);
  EXPECT_EQ(metrics.pages_in_use.value(), 0);
}

}  // namespace
}  // namespace vivace
