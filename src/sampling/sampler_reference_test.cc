// The sampler against its definition written down plainly: everything sorted, in double,
// with the library's exp.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gtest/gtest.h"

#include "sampling/random.h"
#include "sampling/sampler.h"

namespace vivace {
namespace {

struct Choice {
  TokenId token;
  double logit;
};

std::vector<double> Softmax(const std::vector<Choice>& choices, double temperature) {
  std::vector<double> p;
  for (const Choice& choice : choices) {
    p.push_back(std::exp((choice.logit - choices.front().logit) / temperature));
  }
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= total;
  return p;
}

void SortByLogit(std::vector<Choice>& choices) {
  std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  });
}

void Typical(std::vector<Choice>& choices, double mass, std::size_t least) {
  const std::vector<double> p = Softmax(choices, 1);
  double entropy = 0;
  for (const double value : p) entropy -= value > 0 ? value * std::log(value) : 0;
  std::vector<std::size_t> order(choices.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::fabs(-std::log(p[a]) - entropy) < std::fabs(-std::log(p[b]) - entropy);
  });
  std::vector<Choice> kept;
  double sum = 0;
  for (const std::size_t index : order) {
    if (kept.size() >= least && sum >= mass) break;
    kept.push_back(choices[index]);
    sum += p[index];
  }
  choices = kept;
  SortByLogit(choices);
}

void TopP(std::vector<Choice>& choices, double mass, std::size_t least) {
  const std::vector<double> p = Softmax(choices, 1);
  std::size_t count = 0;
  for (double sum = 0; count < choices.size() && (count < least || sum < mass); ++count) {
    sum += p[count];
  }
  choices.resize(count);
}

void MinP(std::vector<Choice>& choices, double share, std::size_t least) {
  const std::vector<double> p = Softmax(choices, 1);
  std::size_t count = 0;
  while (count < choices.size() && (count < least || p[count] >= share * p[0])) ++count;
  choices.resize(count);
}

std::vector<Choice> Kept(const SamplingParams& params, const std::vector<float>& logits) {
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    choices.push_back({static_cast<TokenId>(i), static_cast<double>(logits[i])});
  }
  SortByLogit(choices);
  if (params.top_k > 0 && choices.size() > static_cast<std::size_t>(params.top_k)) {
    choices.resize(static_cast<std::size_t>(params.top_k));
  }
  const auto least = static_cast<std::size_t>(std::max(1, params.min_keep));
  if (params.typical_p < 1) Typical(choices, static_cast<double>(params.typical_p), least);
  if (params.top_p < 1) TopP(choices, static_cast<double>(params.top_p), least);
  if (params.min_p > 0) MinP(choices, static_cast<double>(params.min_p), least);
  return choices;
}

using Weighted = std::vector<std::pair<TokenId, double>>;

// Without any filter in the order of ids, else the most likely first.
Weighted Probabilities(const SamplingParams& params, const std::vector<Choice>& kept, bool by_id) {
  const std::vector<double> p = Softmax(kept, static_cast<double>(params.temperature));
  Weighted weighted;
  for (std::size_t i = 0; i < kept.size(); ++i) weighted.emplace_back(kept[i].token, p[i]);
  if (by_id) std::sort(weighted.begin(), weighted.end());
  return weighted;
}

TokenId Draw(const Weighted& weighted, double uniform) {
  for (const auto& [token, probability] : weighted) {
    uniform -= probability;
    if (uniform < 0) return token;
  }
  return weighted.back().first;
}

// Rows from peaked to flat, longer than what is sorted at first.
std::vector<float> Row(std::size_t size, float width, std::uint32_t seed) {
  std::vector<float> row(size);
  for (std::size_t i = 0; i < size; ++i) {
    row[i] = static_cast<float>(Uniform(seed, i) + Uniform(seed + 100, i) - 1) * width;
  }
  return row;
}

struct Setting {
  std::int32_t top_k;
  float typical_p;
  float top_p;
  float min_p;
  std::int32_t min_keep;
  float temperature;
};

class SamplerReferenceTest : public testing::TestWithParam<Setting> {};

TEST_P(SamplerReferenceTest, DrawsTheSame) {
  const Setting& setting = GetParam();
  SamplingParams params;
  params.top_k = setting.top_k;
  params.typical_p = setting.typical_p;
  params.top_p = setting.top_p;
  params.min_p = setting.min_p;
  params.min_keep = setting.min_keep;
  params.temperature = setting.temperature;
  params.seed = 11;
  const bool no_filter =
      setting.top_k <= 0 && setting.typical_p >= 1 && setting.top_p >= 1 && setting.min_p <= 0;
  for (const std::size_t size : {3U, 100U, 6000U}) {
    for (const float width : {0.5F, 6.0F, 25.0F}) {
      const std::vector<float> row = Row(size, width, 1);
      const Weighted weighted = Probabilities(params, Kept(params, row), no_filter);
      Sampler sampler(params, size);
      for (std::uint64_t position = 0; position < 30; ++position) {
        ASSERT_EQ(sampler.Sample(row, position), Draw(weighted, Uniform(params.seed, position)))
            << size << " logits of width " << width << ", " << weighted.size() << " kept";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Filters, SamplerReferenceTest,
    testing::Values(Setting{40, 1, 0.95F, 0.05F, 0, 0.8F}, Setting{0, 1, 1, 0, 0, 1},
                    Setting{0, 1, 1, 0, 0, 0.3F}, Setting{0, 1, 0.9F, 0, 0, 1},
                    Setting{0, 1, 0.5F, 0, 0, 2}, Setting{0, 1, 1, 0.1F, 0, 1},
                    Setting{0, 1, 0.99F, 0.01F, 0, 1.5F}, Setting{0, 0.9F, 1, 0, 0, 1},
                    Setting{0, 0.3F, 0.8F, 0.02F, 0, 1}, Setting{20, 0.7F, 1, 0, 5, 1},
                    Setting{0, 1, 0.01F, 0.9F, 300, 1}, Setting{5000, 1, 1, 0, 0, 1},
                    Setting{1, 1, 1, 0, 0, 5}, Setting{0, 1, 0.999F, 0, 3000, 0.1F}));

}  // namespace
}  // namespace vivace
