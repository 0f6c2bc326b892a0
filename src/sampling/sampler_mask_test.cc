// Masks: as if what they forbid had a logit of -infinity, and never the result.
#include <algorithm>
#include <limits>
#include <random>

#include "gtest/gtest.h"

#include "sampling/sampler.h"

namespace vivace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::size_t kVocab = 1003;  // no multiple of 32

std::vector<std::uint32_t> RandomMask(std::size_t allowed, std::mt19937& random) {
  std::vector<std::uint32_t> mask((kVocab + 31) / 32);
  if (allowed >= kVocab) {
    for (std::size_t id = 0; id < kVocab; ++id) mask[id / 32] |= 1U << (id % 32);
  }
  for (std::size_t i = 0; i < allowed; ++i) {
    const std::size_t id = random() % kVocab;
    mask[id / 32] |= 1U << (id % 32);
  }
  return mask;
}

bool Allowed(const std::vector<std::uint32_t>& mask, std::size_t id) {
  return (mask[id / 32] >> (id % 32) & 1U) != 0;
}

std::vector<SamplingParams> Kinds() {
  std::vector<SamplingParams> kinds(6);
  kinds[0].temperature = 0;
  kinds[2].top_k = 0;
  kinds[3].top_k = kinds[3].min_keep = 0;
  kinds[3].top_p = 1;
  kinds[3].min_p = 0;
  kinds[4].repeat_penalty = 1.4F;
  kinds[5].logit_bias = {{3, 2.0F}, {7, -kInf}};
  kinds[5].typical_p = 0.8F;
  return kinds;
}

TEST(SamplerMaskTest, IsAsIfWhatIsForbiddenWereImpossible) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 3);
  for (const SamplingParams& params : Kinds()) {
    for (const std::size_t allowed : {std::size_t{1}, std::size_t{30}, std::size_t{700}, kVocab}) {
      std::vector<float> logits(kVocab);
      for (float& logit : logits) logit = normal(random);
      const auto mask = RandomMask(allowed, random);
      std::vector<float> possible = logits;
      for (std::size_t id = 0; id < kVocab; ++id) {
        if (!Allowed(mask, id)) possible[id] = -kInf;
      }
      Sampler masked(params, kVocab, true);
      Sampler plain(params, kVocab);
      for (const TokenId seen : {3, 5, 900}) {
        masked.Accept(seen);
        plain.Accept(seen);
      }
      for (std::uint64_t position = 0; position < 8; ++position) {
        const TokenId token = masked.Sample(logits, position, mask);
        EXPECT_TRUE(Allowed(mask, static_cast<std::size_t>(token)));
        EXPECT_EQ(token, plain.Sample(possible, position));
        EXPECT_EQ(masked.Sample(logits, position), plain.Sample(logits, position));
      }
    }
  }
}

TEST(SamplerMaskTest, TheLargestKnownDecideOnlyWhereTheyAreAllowed) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal(0, 3);
  for (const float temperature : {0.0F, 0.8F}) {
    SamplingParams params;
    params.temperature = temperature;
    int decided = 0;
    for (int row = 0; row < 200; ++row) {
      std::vector<float> logits(kVocab);
      for (float& logit : logits) logit = normal(random);
      const float floor = *std::max_element(logits.begin(), logits.end()) - 5;
      std::vector<float> known = logits;
      for (float& logit : known) logit = logit < floor ? -kInf : logit;
      const auto mask = RandomMask(row % 2 == 0 ? 5 : 800, random);
      Forbid(mask, 0, known);
      Sampler sampler(params, kVocab, true);
      const auto token = sampler.SampleAbove(known, floor, 1);
      if (!token) continue;
      ++decided;
      EXPECT_EQ(*token, sampler.Sample(logits, 1, mask));
    }
    EXPECT_GT(decided, 20);
  }
}

TEST(SamplerMaskTest, SomethingAllowedComesOutWhateverTheLogits) {
  SamplingParams params;
  params.logit_bias = {{40, -kInf}};
  std::vector<std::uint32_t> mask((kVocab + 31) / 32);
  mask[1] = 1U << 8;  // only 40
  Sampler sampler(params, kVocab, true);
  EXPECT_EQ(sampler.Sample(std::vector<float>(kVocab, 1.0F), 0, mask), 40);
  EXPECT_EQ(sampler.Kept(std::vector<float>(kVocab, 1.0F), 0, mask).front().token, 40);
  const std::vector<float> nothing(kVocab, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(sampler.Sample(nothing, 0, mask), 40);
}

}  // namespace
}  // namespace vivace
