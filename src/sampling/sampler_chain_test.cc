#include "sampling/sampler_chain.h"

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "sampling/sampler.h"

namespace vivace {
namespace {

using Step = SamplingStep;
using Tokens = std::vector<TokenId>;

// No step does anything.
SamplingParams Neutral() {
  SamplingParams params;
  params.top_k = 0;
  params.top_p = 1;
  params.min_p = 0;
  params.temperature = 1;
  return params;
}

SamplingParams With(const std::function<void(SamplingParams&)>& change) {
  SamplingParams params = Neutral();
  change(params);
  EXPECT_TRUE(params.Validate().has_value());
  return params;
}

std::vector<float> SomeLogits(std::uint32_t seed, std::size_t size = 200) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(size);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

Tokens Left(const SamplingParams& params, const std::vector<float>& logits,
            const Tokens& history = {}, std::uint64_t position = 0) {
  SamplerChain chain(params, logits.size());
  for (const TokenId token : history) chain.Accept(token);
  Tokens left;
  for (const Candidate& candidate : chain.Run(logits, position)) left.push_back(candidate.token);
  return left;
}

std::vector<float> LogsOf(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

TEST(SamplerChainTest, TheUsualStepsLeaveWhatSamplerLeaves) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    SamplingParams params;
    params.repeat_penalty = 1.3F;
    params.presence_penalty = 0.5F;
    params.typical_p = seed % 2 == 0 ? 1.0F : 0.9F;
    params.min_keep = static_cast<std::int32_t>(seed % 4);
    const auto logits = SomeLogits(seed);
    Sampler usual(params, logits.size());
    params.steps = {Step::kPenalties, Step::kDry,     Step::kTopNSigma,
                    Step::kTopK,      Step::kTypical, Step::kTopP,
                    Step::kMinP,      Step::kXtc,     Step::kTemperature};
    Sampler listed(params, logits.size());
    for (const TokenId token : {3, 5, 3, 100}) {
      usual.Accept(token);
      listed.Accept(token);
    }
    const auto expected = usual.Kept(logits, 7);
    const auto kept = listed.Kept(logits, 7);
    // Sampler looks at top-p and min-p together, the list at one after the other.
    ASSERT_LE(kept.size(), expected.size());
    ASSERT_GE(kept.size() + 1, expected.size());
    for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i].token, expected[i].token);
    EXPECT_EQ(usual.Sample(logits, 7), listed.Sample(logits, 7)) << seed;
  }
}

TEST(SamplerChainTest, OrderMatters) {
  const auto logits = LogsOf({0.5, 0.3, 0.15, 0.05});
  SamplingParams params = Neutral();
  params.temperature = 3;
  params.top_p = 0.75;
  params.steps = {Step::kTopP, Step::kTemperature};
  EXPECT_EQ(Left(params, logits).size(), 2);
  params.steps = {Step::kTemperature, Step::kTopP};
  EXPECT_EQ(Left(params, logits).size(), 3) << "flatter by then";
  params.steps = {Step::kTopP, Step::kTopP};
  EXPECT_EQ(Left(params, logits).size(), 2) << "0.5 of 0.8 is not yet 0.75";
  params.steps = {};
  EXPECT_EQ(Left(params, logits).size(), 2);
}

TEST(SamplerChainTest, TopNSigma) {
  // Mean 1, deviation 3: nothing but the last is near 10.
  std::vector<float> logits(10, 0.0F);
  logits[9] = 10;
  EXPECT_EQ(Left(With([](auto& p) { p.top_n_sigma = 1; }), logits), Tokens{9});
  EXPECT_EQ(Left(With([](auto& p) { p.top_n_sigma = 3.5; }), logits).size(), 10);
}

TEST(SamplerChainTest, XtcLeavesTheLeastLikelyOfTheTop) {
  const auto logits = LogsOf({0.4, 0.3, 0.2, 0.1});
  const auto always = With([](auto& p) {
    p.xtc_probability = 1;
    p.xtc_threshold = 0.15F;
  });
  EXPECT_EQ(Left(always, logits), (Tokens{2, 3}));
  EXPECT_EQ(Left(With([](auto& p) {
                   p.xtc_probability = 1;
                   p.xtc_threshold = 0.35F;
                 }),
                 logits),
            (Tokens{0, 1, 2, 3}))
      << "one above the threshold stays";
  EXPECT_EQ(Left(With([](auto& p) {
                   p.xtc_probability = 1;
                   p.xtc_threshold = 0.15F;
                   p.min_keep = 3;
                 }),
                 logits)
                .size(),
            4);
  const auto sometimes = With([](auto& p) {
    p.xtc_probability = 0.3F;
    p.xtc_threshold = 0.15F;
  });
  int excluded = 0;
  for (std::uint64_t position = 0; position < 1000; ++position) {
    excluded += Left(sometimes, logits, {}, position).size() == 2 ? 1 : 0;
  }
  EXPECT_NEAR(excluded, 300, 60);
}

TEST(SamplerChainTest, DryPenalizesWhatWouldRepeat) {
  const std::vector<float> logits(10, 1.0F);
  const Tokens text = {1, 2, 3, 4, 9, 1, 2, 3};
  const auto penalty = [&](const std::function<void(SamplingParams&)>& change) {
    SamplerChain chain(With([&](auto& p) {
                         p.dry.multiplier = 0.5F;
                         p.dry.last_n = -1;
                         change(p);
                       }),
                       logits.size());
    for (const TokenId token : text) chain.Accept(token);
    for (const Candidate& candidate : chain.Run(logits, 0)) {
      if (candidate.token == 4) return 1 - candidate.logit;
    }
    return -1.0F;
  };
  EXPECT_NEAR(penalty([](auto&) {}), 0.5F * 1.75F, 1e-4F) << "3 tokens, 1 more than allowed";
  EXPECT_NEAR(penalty([](auto& p) {
                p.dry.base = 2;
                p.dry.allowed_length = 1;
              }),
              2.0F, 1e-4F);
  EXPECT_EQ(penalty([](auto& p) { p.dry.allowed_length = 4; }), 0);
  EXPECT_EQ(penalty([](auto& p) { p.dry.last_n = 4; }), 0) << "the first time is too long ago";
  EXPECT_NEAR(penalty([](auto& p) { p.dry.breakers = {1}; }), 0.5F, 1e-4F);
}

TEST(SamplerChainTest, ALongRepetitionStaysFinite) {
  const std::vector<float> logits = {1, 1};
  SamplerChain chain(With([](auto& p) {
                       p.dry.multiplier = 100;
                       p.dry.base = 100;
                       p.dry.last_n = -1;
                     }),
                     2);
  for (int i = 0; i < 2000; ++i) chain.Accept(0);
  const auto left = chain.Run(logits, 0);
  ASSERT_EQ(left.size(), 2);
  EXPECT_TRUE(std::isfinite(left[1].logit));
  EXPECT_EQ(left[0].token, 1);
}

TEST(SamplerChainTest, TheTemperatureFollowsTheEntropy) {
  const auto scale = [](const std::vector<float>& logits) {
    SamplerChain chain(With([](auto& p) { p.dynatemp_range = 0.5F; }), logits.size());
    const auto left = chain.Run(logits, 0);
    return left.front().logit / logits.front();
  };
  EXPECT_NEAR(scale({5, 5, 5, 5}), 1 / 1.5F, 1e-4F) << "all alike: the highest";
  EXPECT_NEAR(scale({50, 0, 0, 0}), 1 / 0.5F, 1e-3F) << "sure: the lowest";
}

TEST(SamplerChainTest, Mirostat2CutsAtItsSurprise) {
  const auto logits = LogsOf({0.5, 0.25, 0.125, 0.0625, 0.0625});
  // mu is twice tau: up to 3 bits.
  EXPECT_EQ(Left(With([](auto& p) { p.mirostat = {.version = 2, .tau = 1.51F}; }), logits).size(),
            3);
  EXPECT_EQ(Left(With([](auto& p) { p.mirostat = {.version = 2, .tau = 0}; }), logits).size(), 1);
}

// The mean surprise, in bits, of what is drawn.
double MeanSurprise(std::int32_t version, float tau) {
  SamplingParams params = With([&](auto& p) { p.mirostat = {.version = version, .tau = tau}; });
  Sampler sampler(params, 2000);
  std::vector<double> probabilities;  // as in language: like a power of the rank
  double total = 0;
  for (int i = 0; i < 2000; ++i) {
    probabilities.push_back(std::pow(i + 1, -1.1));
    total += probabilities.back();
  }
  for (double& p : probabilities) p /= total;
  const auto logits = LogsOf(probabilities);
  double sum = 0;
  constexpr int kTokens = 2000;
  for (int i = 0; i < kTokens; ++i) {
    const TokenId token = sampler.Sample(logits, static_cast<std::uint64_t>(i));
    sampler.Accept(token);
    sum -= std::log2(probabilities[static_cast<std::size_t>(token)]);
  }
  return sum / kTokens;
}

TEST(SamplerChainTest, MirostatSteersTheSurprise) {
  // It looks at the surprise after the cut, so the text's own is somewhat higher.
  for (const int version : {1, 2}) {
    const double low = MeanSurprise(version, 2);
    const double high = MeanSurprise(version, 5);
    EXPECT_LT(low, 5) << version;
    EXPECT_GT(high, low + 1) << version;
  }
}

TEST(SamplerChainTest, AdaptiveDrawsNearItsTarget) {
  const std::vector<double> probabilities = {0.6, 0.25, 0.1, 0.05};
  const auto logits = LogsOf(probabilities);
  const auto mean = [&](float target) {
    Sampler sampler(With([&](auto& p) { p.adaptive.target = target; }), logits.size());
    double sum = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const TokenId token = sampler.Sample(logits, i);
      sampler.Accept(token);
      sum += probabilities[static_cast<std::size_t>(token)];
    }
    return sum / 2000;
  };
  EXPECT_NEAR(mean(0.5), 0.5, 0.1);
  EXPECT_NEAR(mean(0.2F), 0.2, 0.1);
}

TEST(SamplerChainTest, GreedyIsTheBestAfterThePenalties) {
  SamplingParams params = With([](auto& p) {
    p.temperature = 0;
    p.dry.multiplier = 5;
    p.dry.last_n = -1;
  });
  Sampler sampler(params, 4);
  const std::vector<float> logits = {1, 2, 0, 0};
  EXPECT_EQ(sampler.Sample(logits, 0), 1);
  for (const TokenId token : {3, 2, 1, 3, 2}) sampler.Accept(token);
  EXPECT_EQ(sampler.Sample(logits, 5), 0) << "1 would repeat 3, 2, 1";
}

TEST(SamplerChainTest, WhatIsForbiddenIsNeverLeft) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const std::vector<float> logits = {kNever, 1, kNever, 0};
  SamplingParams params = Neutral();
  params.steps = {Step::kTemperature};
  EXPECT_EQ(Left(params, logits), (Tokens{1, 3}));
  Sampler sampler(params, 4);
  EXPECT_EQ(sampler.Sample(std::vector<float>(4, kNever), 0), 0);
}

TEST(SamplerChainTest, SameSeedAndPositionSameToken) {
  const auto params = With([](auto& p) {
    p.xtc_probability = 0.5F;
    p.top_n_sigma = 2;
    p.seed = 5;
  });
  for (std::uint64_t position = 0; position < 50; ++position) {
    const auto logits = SomeLogits(static_cast<std::uint32_t>(position));
    Sampler first(params, logits.size());
    Sampler second(params, logits.size());
    (void)second.Sample(SomeLogits(99), 3);
    EXPECT_EQ(first.Sample(logits, position), second.Sample(logits, position));
  }
}

}  // namespace
}  // namespace vivace
