#include "sampling/sampler.h"

#include <cmath>
#include <limits>
#include <map>

#include "gtest/gtest.h"

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

// How far the counts are from softmax(logits / temperature).
double ChiSquare(std::map<TokenId, int> counts, const std::vector<float>& logits,
                 double temperature, int draws) {
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit) / temperature);
  double chi_square = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double expected = draws * std::exp(static_cast<double>(logits[i]) / temperature) / total;
    const double off = counts[static_cast<TokenId>(i)] - expected;
    chi_square += off * off / expected;
  }
  return chi_square;
}

TEST(PhiloxTest, MatchesThePublishedVectors) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, UniformFillsItsRange) {
  std::vector<int> counts(16, 0);
  constexpr int kDraws = 16000;
  for (int i = 0; i < kDraws; ++i) {
    const double uniform = Uniform(9, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(uniform >= 0 && uniform < 1);
    ++counts[static_cast<std::size_t>(uniform * 16)];
  }
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 37.7);  // 99.9 % of the distribution with 15 degrees
}

TEST(SamplerTest, DrawsFollowTheSoftmax) {
  const std::vector<float> logits = {0.0F, 1.0F, 2.0F, -1.0F};
  constexpr int kDraws = 20000;
  // 99.9 % of the chi-square distribution with 3 degrees of freedom.
  EXPECT_LT(ChiSquare(Draw(Plain(1.0F), logits, kDraws), logits, 1.0, kDraws), 16.3);
  EXPECT_LT(ChiSquare(Draw(Plain(1.7F), logits, kDraws), logits, 1.7, kDraws), 16.3);
  SamplingParams params = Plain(0.6F);
  params.top_k = 4;  // the way over candidates
  EXPECT_LT(ChiSquare(Draw(params, logits, kDraws), logits, 0.6, kDraws), 16.3);
}

TEST(SamplerTest, DrawsFromManyBlocksFollowTheSoftmax) {
  std::vector<float> logits(200);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i % 7) * 0.3F;
  constexpr int kDraws = 40000;
  // 99.9 % with 199 degrees of freedom.
  EXPECT_LT(ChiSquare(Draw(Plain(1.0F), logits, kDraws), logits, 1.0, kDraws), 266.0);
}

TEST(SamplerTest, TheSeedAndThePositionDecide) {
  const std::vector<float> logits(100, 0.0F);
  SamplingParams params = Plain(1.0F);
  params.seed = 7;
  Sampler forward(params, logits.size());
  Sampler backward(params, logits.size());
  std::vector<TokenId> tokens(50);
  for (std::size_t i = 0; i < 50; ++i) tokens[i] = forward.Sample(logits, i);
  for (std::size_t i = 50; i-- > 0;) EXPECT_EQ(backward.Sample(logits, i), tokens[i]);
  params.seed = 8;
  Sampler other(params, logits.size());
  int same = 0;
  for (std::size_t i = 0; i < 50; ++i) same += other.Sample(logits, i) == tokens[i] ? 1 : 0;
  EXPECT_LT(same, 10);
}

TEST(SamplerTest, FiltersKeepWhatTheySay) {
  const std::vector<float> logits = {std::log(0.5F), std::log(0.3F), std::log(0.15F),
                                     std::log(0.05F)};
  SamplingParams params = Plain(1.0F);
  params.top_k = 2;
  EXPECT_EQ(Draw(params, logits, 500).size(), 2U);
  params.top_k = -1;
  EXPECT_EQ(Draw(params, logits, 500).size(), 4U);
  params = Plain(1.0F);
  params.top_p = 0.7F;
  EXPECT_EQ(Draw(params, logits, 500).size(), 2U);
  params.top_p = 0.0F;
  EXPECT_EQ(Draw(params, logits, 500).size(), 1U);
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
    EXPECT_EQ(sampler.Sample(logits, 1), 1) << "a second look changes nothing";
  }
}

TEST(SamplerTest, PenaltiesAreTheirDefinition) {
  // Seen twice, once and never; the first two have logits of both signs.
  const std::vector<float> logits = {3.0F, -1.0F, 0.5F};
  SamplingParams params = Plain(1.0F);
  params.repeat_penalty = 2.0F;
  params.presence_penalty = 0.25F;
  params.frequency_penalty = 0.125F;
  const std::vector<float> expected = {3.0F / 2 - 0.25F - 0.25F, -1.0F * 2 - 0.25F - 0.125F, 0.5F};
  Sampler penalized(params, logits.size());
  for (const TokenId token : {0, 1, 0}) penalized.Accept(token);
  Sampler plain(Plain(1.0F), logits.size());
  for (std::uint64_t i = 0; i < 500; ++i) {
    EXPECT_EQ(penalized.Sample(logits, i), plain.Sample(expected, i));
  }
}

TEST(SamplerTest, OldTokensLeaveTheWindow) {
  const std::vector<float> logits = {2.0F, 1.5F};
  const std::map<std::int32_t, TokenId> expected = {{0, 0}, {2, 0}, {3, 1}, {-1, 1}};
  for (const auto& [window, token] : expected) {
    SamplingParams params = Plain(0.0F);
    params.frequency_penalty = 1;
    params.repeat_last_n = window;
    Sampler sampler(params, logits.size());
    for (const TokenId seen : {0, 0, 1}) sampler.Accept(seen);
    EXPECT_EQ(sampler.Sample(logits, 3), token) << window;
  }
}

TEST(SamplerTest, BiasForbidsAndForces) {
  const std::vector<float> logits = {2.0F, 1.5F, 1.0F};
  SamplingParams params = Plain(0.0F);
  params.logit_bias = {{0, -kInf}, {2, 5.0F}, {99, 5.0F}};
  Sampler sampler(params, logits.size());
  EXPECT_EQ(sampler.Sample(logits, 0), 2);
}

TEST(SamplerTest, ForbiddenTokensAreNeverDrawn) {
  std::vector<float> logits(300, -kInf);
  logits[7] = NAN;
  logits[150] = -5.0F;
  logits[299] = -5.5F;
  SamplingParams with_filters = Plain(100.0F);
  with_filters.top_k = 40;
  with_filters.typical_p = 0.99F;
  SamplingParams kept = Plain(100.0F);
  kept.top_p = 0.9F;
  kept.min_keep = 10;
  for (const SamplingParams& params : {Plain(100.0F), with_filters, kept}) {
    for (const auto& [token, count] : Draw(params, logits, 200)) {
      EXPECT_TRUE(token == 150 || token == 299) << token;
    }
  }
}

TEST(SamplerTest, StrangeLogitsGiveAToken) {
  constexpr float kMax = std::numeric_limits<float>::max();
  for (const float value : {NAN, kInf, -kInf, 0.0F, kMax, -kMax}) {
    for (const float temperature : {0.0F, 1e-30F, 1.0F, 100.0F}) {
      for (const float typical : {0.5F, 1.0F}) {
        std::vector<float> logits(50, value);
        logits[20] = -kMax;
        SamplingParams params = Plain(temperature);
        params.min_p = 0.1F;
        params.typical_p = typical;
        const TokenId token = Sampler(params, logits.size()).Sample(logits, 0);
        EXPECT_TRUE(token >= 0 && token < 50);
      }
    }
  }
}

TEST(SamplerTest, AVeryLowTemperatureIsGreedy) {
  const std::vector<float> logits = {1.0F, 1.001F, 0.5F};
  EXPECT_EQ(Draw(Plain(1e-30F), logits, 100), (std::map<TokenId, int>{{1, 100}}));
}

// Draws agree with the probabilities that Kept tells, for filters of every kind.
TEST(SamplerTest, KeptIsWhatIsDrawnFrom) {
  const std::vector<float> logits = {2.0F, 1.5F, 1.0F, -1.0F, -kInf, 0.0F};
  SamplingParams filtered = Plain(0.7F);
  filtered.top_k = 3;
  SamplingParams narrow = Plain(1.3F);
  narrow.top_p = 0.8F;
  narrow.logit_bias = {{0, -1.0F}};
  for (const SamplingParams& params : {Plain(0.9F), filtered, narrow}) {
    constexpr int kDraws = 20000;
    auto counts = Draw(params, logits, kDraws);
    double total = 0;
    for (const TokenLogprob& kept : Sampler(params, logits.size()).Kept(logits, 0)) {
      const double probability = std::exp(kept.logprob);
      total += probability;
      EXPECT_NEAR(counts[kept.token], kDraws * probability, 5 * std::sqrt(kDraws * probability));
      counts.erase(kept.token);
    }
    EXPECT_NEAR(total, 1, 1e-6);
    EXPECT_TRUE(counts.empty());
  }
  const auto greedy = Sampler(Plain(0), logits.size()).Kept(logits, 0);
  ASSERT_EQ(greedy.size(), 1);
  EXPECT_EQ(greedy.front().token, 0);
  EXPECT_EQ(greedy.front().logprob, 0);
}

TEST(SamplingParamsTest, NamesTheValueAndTheRange) {
  SamplingParams params;
  EXPECT_TRUE(params.Validate().has_value());
  params.top_p = 1.5F;
  EXPECT_EQ(params.Validate().error().message, "top_p is 1.5, allowed is 0 to 1");
  params = {};
  params.top_k = -2;
  EXPECT_EQ(params.Validate().error().message, "top_k is -2, allowed is -1 to 2147483647");
  params = {};
  params.temperature = NAN;
  EXPECT_FALSE(params.Validate().has_value());
  params = {};
  params.logit_bias = {{-5, 1.0F}};
  EXPECT_FALSE(params.Validate().has_value());
  params.logit_bias = {{5, NAN}};
  EXPECT_FALSE(params.Validate().has_value());
}

}  // namespace
}  // namespace vivace
