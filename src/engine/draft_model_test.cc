// Drafts of another model: right ones where it is the same, wrong ones where it is not, and
// never another answer.
#include "engine/draft_model.h"

#include "gtest/gtest.h"

#include "engine/core_testing.h"

namespace vivace {
namespace {

const Model& OtherModel() {
  static const TinyModel model(8);
  return model.model();
}

EngineOptions With(const Model* draft_model, Speculation speculation) {
  EngineOptions options = Options();
  options.draft_model = draft_model;
  options.speculation = speculation;
  return options;
}

std::int64_t AcceptedOfModel(const EngineCore& core) {
  return core.metrics().accepted[static_cast<std::size_t>(DraftSource::kModel)].value();
}

TEST(DraftModel, AnswersAreThoseWithout) {
  constexpr std::uint32_t kRequests = 100;
  Bench plain(With(nullptr, Speculation::kOff));
  for (const Speculation speculation : {Speculation::kAlways, Speculation::kWhenItPays}) {
    for (const Model* draft : {&TestModel(), &OtherModel()}) {
      Bench bench(With(draft, speculation));
      for (std::uint32_t seed = 0; seed < kRequests; ++seed) {
        EXPECT_TRUE(bench.Run(MixedRequest(seed)).SameAnswer(plain.Run(MixedRequest(seed))))
            << seed;
      }
      if (draft == &TestModel() && speculation == Speculation::kAlways) {
        EXPECT_GT(AcceptedOfModel(*bench.core), 200);
      }
      bench.ExpectNothingHeld();
    }
  }
}

TEST(DraftModel, TheSameModelGuessesItsOwnGreedyAnswer) {
  Bench bench(With(&TestModel(), Speculation::kAlways));
  GenerateRequest request = {.prompt = RandomTokens(150, 5), .max_tokens = 60, .ignore_end = true};
  request.sampling = Greedy();
  const Outcome outcome = bench.Run(request);
  EXPECT_EQ(outcome.tokens.size(), 60U);
  EXPECT_EQ(outcome.timings.accepted_tokens, outcome.timings.drafted_tokens);
  EXPECT_GT(outcome.timings.accepted_tokens, 40);
}

TEST(DraftModel, LongContextsEndAndShiftAsWithout) {
  for (const bool shift : {false, true}) {
    Outcome outcomes[2];
    for (const bool with : {false, true}) {
      Bench bench(
          With(with ? &TestModel() : nullptr, with ? Speculation::kAlways : Speculation::kOff));
      GenerateRequest request = {.prompt = RandomTokens(kContext - 30, 3), .max_tokens = 90};
      request.ignore_end = true;
      request.shift = shift;
      outcomes[with ? 1 : 0] = bench.Run(request);
    }
    EXPECT_TRUE(outcomes[0].SameAnswer(outcomes[1]));
  }
}

TEST(DraftModel, ReadsInPiecesAndFollowsWhatIsCut) {
  ThreadTeam team({.threads = 1});
  auto draft = *DraftModel::Create(TestModel(), team, kContext);
  std::vector<TokenId> tokens = RandomTokens(150, 1);
  EXPECT_TRUE(draft->Propose(tokens, 4, 1e9).empty());
  EXPECT_TRUE(draft->Propose(tokens, 4, 1e9).empty());
  const auto first = draft->Propose(tokens, 4, 1e9);
  ASSERT_EQ(first.size(), 4U);
  const std::vector<DraftToken> kept(first.begin(), first.end());
  tokens.push_back(kept[0].token);
  const auto second = draft->Propose(tokens, 3, 1e9);
  ASSERT_EQ(second.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(second[i].token, kept[i + 1].token);
  tokens.resize(100);
  EXPECT_EQ(draft->Propose(tokens, 2, 1e9).size(), 2U);
  EXPECT_TRUE(draft->Propose(RandomTokens(kContext, 2), 4, 1e9).empty());
  EXPECT_TRUE(draft->Propose(tokens, 0, 1e9).empty());
}

TEST(DraftModel, RestsWhereItDoesNotPay) {
  ThreadTeam team({.threads = 1});
  auto draft = *DraftModel::Create(TestModel(), team, kContext);
  const std::vector<TokenId> tokens = RandomTokens(20, 1);
  bool rested = false;
  for (int i = 0; i < 50 && !rested; ++i) {
    rested = draft->Propose(tokens, 1, 1e-6).empty();
    if (!rested) draft->Judge(1, 0);
  }
  EXPECT_TRUE(rested);
  for (int i = 0; i < 63; ++i) EXPECT_TRUE(draft->Propose(tokens, 1, 1e-6).empty());
  EXPECT_FALSE(draft->Propose(tokens, 1, 1e-6).empty());
}

}  // namespace
}  // namespace vivace
