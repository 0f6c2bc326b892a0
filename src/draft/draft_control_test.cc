#include "draft/draft_control.h"

#include <vector>

#include "gtest/gtest.h"

namespace vivace {
namespace {

using Draft = std::vector<DraftToken>;

// Each token right with the same chance, given those before it.
Draft Chain(std::size_t count, float chance) {
  Draft draft;
  float reach = 1;
  for (std::size_t i = 0; i < count; ++i) {
    reach *= chance;
    draft.push_back({.token = 1, .source = DraftSource::kMemory, .reach = reach});
  }
  return draft;
}

// A step of one row takes 10 ms and each further row `more`.
DraftControl Measured(double more) {
  DraftControl control;
  for (int i = 0; i < 3; ++i) {
    for (std::int64_t rows = 1; rows <= 32; ++rows) {
      control.Observe(rows, 10 + more * static_cast<double>(rows - 1));
    }
  }
  return control;
}

std::int64_t Taken(const DraftControl& control, const Draft& draft) {
  DraftControl::Offer offer = {.tokens = draft};
  control.Decide({&offer, 1});
  return offer.taken;
}

TEST(DraftControl, TakesNothingBeforeAnythingWasMeasured) {
  EXPECT_EQ(Taken(DraftControl(), Chain(8, 0.99F)), 0);
  EXPECT_FALSE(DraftControl().Open(1));
}

TEST(DraftControl, TakesAllThatIsAsGoodAsCertain) {
  EXPECT_EQ(Taken(Measured(0.3), Chain(15, 0.99F)), 15);
}

TEST(DraftControl, TakesAsMuchAsPays) {
  // One more row must bring at least 0.05 tokens for each token of the step.
  EXPECT_EQ(Taken(Measured(0.5), Chain(15, 0.02F)), 0);
  EXPECT_LE(Taken(Measured(0.5), Chain(15, 0.25F)), 2);
  EXPECT_GE(Taken(Measured(0.5), Chain(15, 0.25F)), 1);
  const std::int64_t taken = Taken(Measured(0.5), Chain(15, 0.7F));
  EXPECT_GT(taken, 3);
  EXPECT_LT(taken, 10);
}

TEST(DraftControl, TakesNothingWhereRowsAreDear) {
  EXPECT_EQ(Taken(Measured(10), Chain(15, 0.9F)), 0);
  EXPECT_GT(Taken(Measured(8), Chain(15, 0.99F)), 0);
}

TEST(DraftControl, PassesOverRowsThatCostMoreThanTheNext) {
  DraftControl control;
  for (int i = 0; i < 3; ++i) {
    control.Observe(1, 10);
    control.Observe(2, 19);
    control.Observe(16, 20);
  }
  EXPECT_EQ(Taken(control, Chain(15, 0.9F)), 15);
}

TEST(DraftControl, GivesTheRowsToTheLikeliest) {
  const Draft good = Chain(15, 0.95F);
  const Draft poor = Chain(15, 0.2F);
  std::vector<DraftControl::Offer> offers = {{.tokens = poor}, {.tokens = good}, {.tokens = {}}};
  Measured(1).Decide(offers);
  EXPECT_GT(offers[1].taken, 5);
  EXPECT_LE(offers[0].taken, 1);
  EXPECT_EQ(offers[2].taken, 0);
}

TEST(DraftControl, TakesLessOfEachInCompany) {
  const Draft draft = Chain(15, 0.6F);
  const std::int64_t alone = Taken(Measured(1), draft);
  std::vector<DraftControl::Offer> offers(16, {.tokens = draft});
  Measured(1).Decide(offers);
  std::int64_t rows = 0;
  for (const DraftControl::Offer& offer : offers) {
    EXPECT_LE(offer.taken, alone);
    rows += 1 + offer.taken;
  }
  EXPECT_LE(rows, DraftControl::kMostRows);
}

TEST(DraftControl, LeavesFullStepsAlone) {
  const Draft draft = Chain(15, 0.9F);
  std::vector<DraftControl::Offer> offers(40, {.tokens = draft});
  Measured(0.1).Decide(offers);
  for (const DraftControl::Offer& offer : offers) EXPECT_EQ(offer.taken, 0);
}

}  // namespace
}  // namespace vivace
