#include "draft/row_cost.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(RowCost, KnowsNothingAtFirst) {
  const RowCost cost;
  EXPECT_EQ(cost.Ms(1), 0);
  EXPECT_FALSE(cost.Known(1));
}

TEST(RowCost, IsKnownAfterAFewSteps) {
  RowCost cost;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(cost.Known(1));
    cost.Observe(1, 10);
  }
  EXPECT_TRUE(cost.Known(1));
  EXPECT_FALSE(cost.Known(2));
  EXPECT_DOUBLE_EQ(cost.Ms(1), 10);
}

TEST(RowCost, IsAStraightLineBetweenWhatWasMeasured) {
  RowCost cost;
  cost.Observe(1, 10);
  cost.Observe(5, 18);
  EXPECT_DOUBLE_EQ(cost.Ms(2), 12);
  EXPECT_DOUBLE_EQ(cost.Ms(4), 16);
  EXPECT_GT(cost.Ms(9), 18);  // a guess
  EXPECT_LT(cost.Ms(9), 22);
}

TEST(RowCost, FollowsAndDoubtsWhatIsFarOff) {
  RowCost cost;
  for (int i = 0; i < 20; ++i) cost.Observe(1, 10);
  cost.Observe(1, 1000);
  EXPECT_LT(cost.Ms(1), 11);
  for (int i = 0; i < 100; ++i) cost.Observe(1, 20);
  EXPECT_NEAR(cost.Ms(1), 20, 0.1);
}

TEST(RowCost, ForgetsInTime) {
  RowCost cost;
  for (int i = 0; i < 3; ++i) cost.Observe(1, 10);
  for (int i = 0; i < 3; ++i) cost.Observe(4, 40);
  for (int i = 0; i < 100; ++i) cost.Observe(1, 10);
  EXPECT_NEAR(cost.Ms(4), 40, 1e-9);
  for (int i = 0; i < 1000; ++i) cost.Observe(1, 10);
  EXPECT_FALSE(cost.Known(4));
  EXPECT_LT(cost.Ms(4), 15);
  for (int i = 0; i < 1000; ++i) cost.Observe(2, 30);
  EXPECT_FALSE(cost.Known(1));  // so that it is measured again
  EXPECT_DOUBLE_EQ(cost.Ms(1), 30);
}

TEST(RowCost, IgnoresWhatIsOutOfItsRange) {
  RowCost cost;
  cost.Observe(RowCost::kMostRows + 1, 10);
  cost.Observe(0, 10);
  EXPECT_EQ(cost.Ms(RowCost::kMostRows), 0);
  EXPECT_FALSE(cost.Known(RowCost::kMostRows + 1));
}

}  // namespace
}  // namespace vivace
