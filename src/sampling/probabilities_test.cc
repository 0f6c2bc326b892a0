#include "sampling/probabilities.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

#include "sampling/exp.h"
#include "sampling/random.h"

namespace vivace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(FixedExpTest, IsCloseToTheLibrary) {
  for (float x = 0; x > -87; x -= 0.037F) {
    EXPECT_NEAR(static_cast<double>(FixedExp(x)) / std::exp(static_cast<double>(x)), 1.0, 0x1p-22)
        << x;
  }
  EXPECT_EQ(FixedExp(0.0F), 1.0F);
}

TEST(FixedExpTest, IsZeroWhereNothingCanBeDrawn) {
  for (const float x : {-87.5F, -1000.0F, -1e30F, -kInf, NAN}) EXPECT_EQ(FixedExp(x), 0.0F) << x;
}

TEST(FixedLogTest, IsCloseToTheLibrary) {
  for (double x = 1e-6; x < 1e6; x *= 1.7) EXPECT_NEAR(FixedLog(x), std::log(x), 1e-13);
}

// Written out, so that a compiler or machine that computes anything else is noticed.
TEST(FixedExpTest, HasTheseBits) {
  EXPECT_EQ(std::bit_cast<std::uint32_t>(FixedExp(-1.0F)), 0x3ebc5ab2U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(FixedExp(-0.3F)), 0x3f3da643U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(FixedExp(-20.25F)), 0x30dc9ef1U);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(FixedLog(3.0)), 0x3ff193ea7aad030aU);
}

TEST(ProbabilitiesTest, LogSumExpIsTheDefinition) {
  for (const std::size_t size : {1U, 63U, 64U, 65U, 1000U}) {
    std::vector<float> logits(size);
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      logits[i] = static_cast<float>(Uniform(2, i) * 30 + 50);
      sum += std::exp(static_cast<double>(logits[i]));
    }
    EXPECT_NEAR(LogSumExp(logits), std::log(sum), 1e-6);
  }
}

TEST(ProbabilitiesTest, TopLogprobsAreOrderedAndAddUp) {
  const std::vector<float> logits = {0.5F, 2.0F, -kInf, 2.0F, 1.0F, NAN};
  const auto top = TopLogprobs(logits, 10);
  ASSERT_EQ(top.size(), 6U);
  EXPECT_EQ(top[0].token, 1);
  EXPECT_EQ(top[1].token, 3);
  EXPECT_EQ(top[5].logprob, -std::numeric_limits<double>::infinity());
  double sum = 0;
  for (const TokenLogprob& entry : top) sum += std::exp(entry.logprob);
  EXPECT_NEAR(sum, 1.0, 1e-6);
  EXPECT_EQ(TopLogprobs(logits, 2).size(), 2U);
}

TEST(ProbabilitiesTest, RowsWithoutASoftmax) {
  const auto none = TopLogprobs(std::vector<float>{NAN, -kInf}, 2);
  ASSERT_EQ(none.size(), 2U);
  EXPECT_EQ(none[0].logprob, -std::numeric_limits<double>::infinity());
  const auto infinite = TopLogprobs(std::vector<float>{1, kInf}, 2);
  EXPECT_EQ(infinite[0].logprob, 0.0);
  EXPECT_EQ(infinite[1].logprob, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(TopLogprobs({}, 3).empty());
}

}  // namespace
}  // namespace vivace
