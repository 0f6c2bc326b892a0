#include "engine/coarse_policy.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

// Tokens that are not tried before the next one that is.
int Pause(CoarsePolicy& policy) {
  int pause = 0;
  while (!policy.Try()) ++pause;
  return pause;
}

TEST(CoarsePolicy, TriesEveryTokenWhileThatHelps) {
  CoarsePolicy policy;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Pause(policy), 0);
    policy.Judge(true, 0.54F);
  }
}

TEST(CoarsePolicy, PausesLongerAfterEachFailureAndShorterAfterASuccess) {
  CoarsePolicy policy;
  for (const int expected : {0, 1, 2, 4, 8, 16, 32, 64, 64}) {
    EXPECT_EQ(Pause(policy), expected);
    policy.Judge(true, 0.95F);
  }
  EXPECT_EQ(Pause(policy), 64);
  policy.Judge(true, 0.6F);
  EXPECT_EQ(Pause(policy), 0);
  policy.Judge(false, 0.6F);
  EXPECT_EQ(Pause(policy), 32);
}

}  // namespace
}  // namespace vivace
