#include "measure/engine_tuning.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(EngineTuningTest, OfEquallyFastOnesTheFirstIsTaken) {
  const auto speeds = [](std::vector<double> values) {
    std::vector<Spread> spreads;
    for (const double value : values) spreads.push_back({.median = value});
    return spreads;
  };
  EXPECT_EQ(FirstOfTheFastest(speeds({10, 20, 15}), 0.03), 1U);
  EXPECT_EQ(FirstOfTheFastest(speeds({10, 19.6, 20}), 0.03), 1U);
  EXPECT_EQ(FirstOfTheFastest(speeds({10, 19.0, 20}), 0.03), 2U);
  EXPECT_EQ(FirstOfTheFastest(speeds({7}), 0.03), 0U);
  EXPECT_EQ(FirstOfTheFastest(speeds({0, 0}), 0.03), 0U);
}

TEST(EngineTuningTest, ThreadCandidatesAreFewAndAscending) {
  EXPECT_EQ(ThreadCandidates(1, 1), std::vector<int>{1});
  EXPECT_EQ(ThreadCandidates(2, 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(ThreadCandidates(8, 16), (std::vector<int>{1, 4, 7, 8, 12, 16}));
}

TEST(EngineTuningTest, TheStallBudgetLeavesRoomForPrompts) {
  EXPECT_EQ(StallBudgetFor(12.6, 1.4), 50);
  EXPECT_EQ(StallBudgetFor(1, 0.1), 25);      // nobody sees less
  EXPECT_EQ(StallBudgetFor(1000, 100), 250);  // nobody wants more
  EXPECT_EQ(StallBudgetFor(10, 10), 90);      // eight rows beside the step
}

}  // namespace
}  // namespace vivace
