#include "sampling/sampler.h"

#include <cmath>
#include <map>

#include "gtest/gtest.h"

#include "sampling/exp.h"
#include "sampling/probabilities.h"
#include "sampling/random.h"

namespace vivace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

SamplingParams Plain(float temperature) {
  SamplingParams params;
  params.temperature = temperature;
  params.top_k = 0;
  params.top_p = 1;
  params.min_p = 0;
  return params;
}

// How often each token is drawn over many positions.
std::map<TokenId, int> Draw(const SamplingParams& params, const std::vector<float>& logits,
                            int draws) {
  Sampler sampler(params, logits.size());
  std::map<TokenId, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sampler.Sample(logits, static_cast<std::uint64_t>(i))];
  return counts;
}

TEST(PhiloxTest, MatchesThePublishedVectors) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(FixedExpTest, IsCloseToTheLibrary) {
  for (double x = -60; x < 60; x += 0.37) EXPECT_NEAR(FixedExp(x) / std::exp(x), 1.0, 1e-13);
  for (double x = 1e-6; x < 1e6; x *= 1.7) EXPECT_NEAR(FixedLog(x), std::log(x), 1e-13);
}

TEST(ArgMaxTest, TakesTheFirstOfEqualsAndIgnoresNan) {
  EXPECT_EQ(ArgMax(std::vector<float>{1, 3, 3, 2}), 1);
  EXPECT_EQ(ArgMax(std::vector<float>{NAN, 1, NAN}), 1);
  EXPECT_EQ(ArgMax(std::vector<float>{-kInf, -kInf}), 0);
}

TEST(SamplerTest, DrawsFollowTheSoftmax) {
  const std::vector<float> logits = {0.0F, 1.0F, 2.0F, -1.0F};
  constexpr int kDraws = 20000;
  auto counts = Draw(Plain(1.0F), logits, kDraws);
  double chi_square = 0;
  const double total = LogSumExp(logits);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double expected = kDraws * std::exp(static_cast<double>(logits[i]) - total);
    const double off = counts[static_cast<TokenId>(i)] - expected;
    chi_square += off * off / expected;
  }
  EXPECT_LT(chi_square, 16.3);  // 99.9 % of the chi-square distribution with 3 degrees
}

TEST(SamplerTest, TheSeedAndThePositionDecide) {
  const std::vector<float> logits(100, 0.0F);
  SamplingParams params = Plain(1.0F);
  params.seed = 7;
  Sampler first(params, logits.size());
  Sampler second(params, logits.size());
  for (std::uint64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(first.Sample(logits, i), second.Sample(logits, i));
  }
  params.seed = 8;
  Sampler other(params, logits.size());
  int same = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    same += first.Sample(logits, i) == other.Sample(logits, i) ? 1 : 0;
  }
  EXPECT_LT(same, 10);
}

TEST(SamplerTest, FiltersKeepWhatTheySay) {
  const std::vector<float> logits = {std::log(0.5F), std::log(0.3F), std::log(0.15F),
                                     std::log(0.05F)};
  SamplingParams params = Plain(1.0F);
  params.top_k = 2;
  EXPECT_EQ(Draw(params, logits, 500).size(), 2U);
  params = Plain(1.0F);
  params.top_p = 0.7F;
  EXPECT_EQ(Draw(params, logits, 500).size(), 2U);
  params = Plain(1.0F);
  params.min_p = 0.25F;
  EXPECT_EQ(Draw(params, logits, 500).size(), 3U);
  params.min_keep = 4;
  EXPECT_EQ(Draw(params, logits, 500).size(), 4U);
  params = Plain(1.0F);
  params.typical_p = 0.2F;  // 0.3 is nearest to the entropy of 1.14 nats
  EXPECT_EQ(Draw(params, logits, 200), (std::map<TokenId, int>{{1, 200}}));
}

TEST(SamplerTest, PenaltiesChangeAGreedyChoice) {
  const std::vector<float> logits = {2.0F, 1.5F, 1.0F};
  for (int which = 0; which < 3; ++which) {
    SamplingParams params = Plain(0.0F);
    if (which == 0) params.presence_penalty = 50;
    if (which == 1) params.repeat_penalty = 3;
    if (which == 2) params.frequency_penalty = 0.6F;
    Sampler sampler(params, logits.size());
    EXPECT_EQ(sampler.Sample(logits, 0), 0);
    sampler.Accept(0);
    EXPECT_EQ(sampler.Sample(logits, 1), 1) << which;
  }
}

TEST(SamplerTest, OldTokensLeaveTheWindow) {
  const std::vector<float> logits = {2.0F, 1.5F};
  SamplingParams params = Plain(0.0F);
  params.presence_penalty = 50;
  params.repeat_last_n = 2;
  Sampler sampler(params, logits.size());
  for (const TokenId token : {0, 1, 1}) sampler.Accept(token);
  EXPECT_EQ(sampler.Sample(logits, 3), 0);
}

TEST(SamplerTest, BiasForbidsAndForces) {
  const std::vector<float> logits = {2.0F, 1.5F, 1.0F};
  SamplingParams params = Plain(0.0F);
  params.logit_bias = {{0, -kInf}, {2, 5.0F}, {99, 5.0F}};
  Sampler sampler(params, logits.size());
  EXPECT_EQ(sampler.Sample(logits, 0), 2);
}

TEST(SamplerTest, StrangeLogitsGiveAToken) {
  for (const float value : {NAN, kInf, -kInf, 0.0F}) {
    for (const float temperature : {0.0F, 1.0F, 100.0F}) {
      const std::vector<float> logits(50, value);
      SamplingParams params = Plain(temperature);
      params.min_p = 0.1F;
      Sampler sampler(params, logits.size());
      const TokenId token = sampler.Sample(logits, 0);
      EXPECT_TRUE(token >= 0 && token < 50);
    }
  }
}

TEST(SamplingParamsTest, NamesTheValueAndTheRange) {
  SamplingParams params;
  EXPECT_TRUE(params.Validate().has_value());
  params.top_p = 1.5F;
  EXPECT_EQ(params.Validate().error().message, "top_p is 1.5, allowed is 0 to 1");
  params = {};
  params.temperature = NAN;
  EXPECT_FALSE(params.Validate().has_value());
}

TEST(ProbabilitiesTest, TopLogprobsAreOrderedAndAddUp) {
  const std::vector<float> logits = {0.5F, 2.0F, -kInf, 2.0F, 1.0F};
  const auto top = TopLogprobs(logits, 10);
  ASSERT_EQ(top.size(), 5U);
  EXPECT_EQ(top[0].token, 1);
  EXPECT_EQ(top[1].token, 3);
  double sum = 0;
  for (const TokenLogprob& entry : top) sum += std::exp(entry.logprob);
  EXPECT_NEAR(sum, 1.0, 1e-12);
}

}  // namespace
}  // namespace vivace
