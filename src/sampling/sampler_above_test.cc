// SampleAbove against Sample: where it chooses at all, it chooses the same.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"

#include "sampling/sampler.h"

namespace vivace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

SamplingParams With(void (*change)(SamplingParams&)) {
  SamplingParams params;
  change(params);
  return params;
}

// Logits of which `sharpness` says how far the best stand out.
std::vector<float> RandomLogits(std::size_t size, float sharpness, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> logits(size);
  for (float& logit : logits) logit = 3 * normal(random);
  for (int i = 0; i < 20; ++i) logits[random() % size] += sharpness * std::fabs(normal(random));
  for (int i = 0; i < 5; ++i) logits[random() % size] = logits[random() % size];
  return logits;
}

// What is below the floor may be there or not.
std::vector<float> Masked(const std::vector<float>& logits, float floor, std::mt19937& random) {
  std::vector<float> masked = logits;
  for (float& logit : masked) {
    if (logit < floor && random() % 4 != 0) logit = -kInf;
  }
  return masked;
}

// Draws from many rows; returns the share of them that SampleAbove decided.
double CompareWithSample(const SamplingParams& params, float depth, float sharpness) {
  std::mt19937 random(42);
  constexpr int kRows = 200;
  int decided = 0;
  for (int row = 0; row < kRows; ++row) {
    const std::vector<float> logits = RandomLogits(5000, sharpness, random);
    const float floor = *std::max_element(logits.begin(), logits.end()) - depth;
    Sampler all(params, logits.size());
    Sampler above(params, logits.size());
    EXPECT_TRUE(above.NeedsOnlyTheLargest());
    // The largest ones were seen lately.
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] < floor + depth / 2 || random() % 2 == 0) continue;
      all.Accept(static_cast<TokenId>(i));
      above.Accept(static_cast<TokenId>(i));
    }
    const std::vector<float> masked = Masked(logits, floor, random);
    for (std::uint64_t position = 0; position < 4; ++position) {
      const auto token = above.SampleAbove(masked, floor, position);
      if (!token) break;
      EXPECT_EQ(*token, all.Sample(logits, position)) << "row " << row;
      decided += position == 0 ? 1 : 0;
    }
  }
  return static_cast<double>(decided) / kRows;
}

TEST(SampleAboveTest, ChoosesAsSampleDoes) {
  EXPECT_GT(CompareWithSample({}, 7, 20), 0.8);
  EXPECT_GT(CompareWithSample({}, 7, 0), 0.2);
  EXPECT_GT(CompareWithSample(With([](auto& p) { p.min_keep = 3; }), 7, 10), 0.2);
  EXPECT_GT(CompareWithSample(With([](auto& p) { p.top_p = 1; }), 4, 10), 0.8);
  EXPECT_GT(CompareWithSample(With([](auto& p) { p.min_p = 0; }), 7, 20), 0.2);
  EXPECT_GT(CompareWithSample(With([](auto& p) { p.top_k = 3; }), 7, 5), 0.5);
  EXPECT_EQ(CompareWithSample(With([](auto& p) { p.temperature = 0; }), 0, 1), 1.0);
}

TEST(SampleAboveTest, HoldsWherePenaltiesAndBiasOnlyLower) {
  const auto greedy = [](void (*change)(SamplingParams&)) {
    SamplingParams params = With(change);
    params.temperature = 0;
    return params;
  };
  using Change = void (*)(SamplingParams&);
  for (const Change change : std::initializer_list<Change>{
           [](auto& p) { p.repeat_penalty = 1.1F; }, [](auto& p) { p.presence_penalty = 1; },
           [](auto& p) { p.frequency_penalty = 0.5F; },
           [](auto& p) { p.logit_bias = {{1, -kInf}, {17, -2.0F}, {4999, -1.0F}}; },
           [](auto& p) { p.repeat_penalty = 1.3F, p.logit_bias = {{5, -kInf}}; }}) {
    EXPECT_GT(CompareWithSample(greedy(change), 4, 10), 0.5);
    EXPECT_GT(CompareWithSample(With(change), 9, 10), 0.2);
  }
  // A ban of the only one that is known decides nothing.
  Sampler sampler(greedy([](auto& p) { p.logit_bias = {{0, -kInf}}; }), 3);
  EXPECT_FALSE(sampler.SampleAbove(std::vector<float>{5, -kInf, -kInf}, 4, 0));
}

TEST(SampleAboveTest, SaysNothingWhereLogitsBelowTheFloorMatter) {
  // Two known tokens and 38 unknown ones that weigh up to e^-1 each: top-p's edge may be
  // anywhere, and min-p lets them pass.
  const std::vector<float> logits = {1.0F, 0.5F, -kInf, -kInf};
  Sampler sampler({}, logits.size());
  EXPECT_FALSE(sampler.SampleAbove(logits, 0, 0));
  Sampler keeps_more(With([](auto& p) { p.min_keep = 3; }), logits.size());
  EXPECT_FALSE(keeps_more.SampleAbove(logits, -20, 0));
  EXPECT_FALSE(sampler.SampleAbove(std::vector<float>{-kInf, kInf}, 0, 0));
}

TEST(SampleAboveTest, IsNotForSamplersThatNeedAllLogits) {
  using Change = void (*)(SamplingParams&);
  for (const Change change : std::initializer_list<Change>{
           [](auto& p) { p.repeat_penalty = 0.9F; }, [](auto& p) { p.logit_bias = {{1, 2.0F}}; },
           [](auto& p) { p.top_k = 0; }, [](auto& p) { p.typical_p = 0.5F; },
           [](auto& p) { p.top_p = 1, p.min_p = 0; },
           [](auto& p) { p.presence_penalty = -1, p.temperature = 0; }}) {
    EXPECT_FALSE(Sampler(With(change), 10).NeedsOnlyTheLargest());
  }
}

}  // namespace
}  // namespace vivace
