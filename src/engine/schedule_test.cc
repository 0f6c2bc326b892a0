#include "engine/schedule.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(StepCostTest, StartsCarefullyAndLearnsTheRate) {
  StepCost cost;
  EXPECT_EQ(cost.RowsWithin(50), 16);
  for (int i = 0; i < 40; ++i) {
    cost.Observe(1, 0, 10);
    cost.Observe(1, 64, 10 + 64 * 0.5);
  }
  EXPECT_NEAR(cost.decode_ms(), 10, 1e-6);
  EXPECT_NEAR(cost.row_ms(), 0.5, 1e-6);
  EXPECT_EQ(cost.RowsWithin(50.01), 80);
}

TEST(StepCostTest, FollowsAMachineThatSlowsDown) {
  StepCost cost;
  cost.Observe(0, 100, 100);
  EXPECT_EQ(cost.RowsWithin(100.01), 100);
  for (int i = 0; i < 20; ++i) cost.Observe(0, 100, 400);
  EXPECT_NEAR(static_cast<double>(cost.RowsWithin(100)), 25, 1);
}

TEST(StepCostTest, AlwaysLetsAFewRowsThrough) {
  StepCost cost;
  cost.Observe(0, 100, 10000);
  EXPECT_EQ(cost.RowsWithin(0), 4);
  EXPECT_EQ(cost.RowsWithin(50), 4);
}

TEST(StepCostTest, ThreeBudgetsAreTheLimitOfTheFewRows) {
  const auto rows = [](double decode_ms, double swing_ms) {
    StepCost cost;
    for (int i = 0; i < 100; ++i) {
      cost.Observe(32, 0, decode_ms + (i % 2 == 0 ? swing_ms : -swing_ms));
      cost.Observe(32, 8, decode_ms + 8 * 3);
    }
    return cost.RowsWithin(50);
  };
  EXPECT_EQ(rows(70, 0), 8) << "steady: 94 ms";
  EXPECT_EQ(rows(70, 40), 4) << "the same with swings";
  EXPECT_EQ(rows(132, 0), 6) << "150 ms in all";
  EXPECT_EQ(rows(200, 0), 4) << "too slow in any case";
}

TEST(StepCostTest, AStepOfItsOwnIsLongEnoughToReadTheWeightsFor) {
  const auto rows = [](double pass_ms, double row_ms, double budget_ms) {
    StepCost cost;
    EXPECT_EQ(cost.RowsAlone(budget_ms), 32) << "before anything was measured";
    for (int i = 0; i < 20; ++i) {
      cost.Observe(1, 0, pass_ms);
      cost.Observe(0, 64, pass_ms + 64 * row_ms);
    }
    return static_cast<double>(cost.RowsAlone(budget_ms));
  };
  EXPECT_NEAR(rows(10, 0.5, 50), 80, 1) << "within the budget";
  EXPECT_NEAR(rows(30, 1, 50), 60, 1) << "three passes are longer than the budget";
  EXPECT_NEAR(rows(450, 10, 50), 90, 1) << "a busy machine: the same share goes to the rows";
  EXPECT_EQ(rows(0.1, 200, 50), 8) << "never fewer";
}

TEST(StepCostTest, AHighEstimateOfAPassCostsOneStepAtMost) {
  StepCost cost;
  cost.Observe(1, 0, 4000);  // while the file was read from disk
  cost.Observe(0, 32, 80);
  EXPECT_LE(cost.RowsAlone(50), 128);
  cost.Observe(1, 0, 30);
  cost.Observe(0, 64, 94);
  EXPECT_NEAR(static_cast<double>(cost.RowsAlone(50)), 55, 10);
}

TEST(StepCostTest, IgnoresStepsThatSayLittle) {
  StepCost cost;
  cost.Observe(0, 100, 100);
  cost.Observe(1, 2, 500);
  EXPECT_EQ(cost.row_ms(), 1);
  EXPECT_EQ(cost.decode_ms(), 0);
}

TEST(PrefillTurnTest, ALongPromptIsOvertakenOnlyByWhatCameSoonEnough) {
  const std::int64_t slow = PrefillTurn(0, 1000);
  EXPECT_LT(PrefillTurn(500, 50), slow);
  EXPECT_GT(PrefillTurn(960, 50), slow);
}

}  // namespace
}  // namespace vivace
