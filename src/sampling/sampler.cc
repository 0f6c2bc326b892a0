#include "sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sampling/exp.h"
#include "sampling/random.h"

namespace vivace {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

// Candidates this far below the best have a probability under 1e-13 at temperature 1;
// they are left out before sorting where top-k does not bound the number.
constexpr float kNegligible = 30.0F;

}  // namespace

TokenId ArgMax(std::span<const float> logits) {
  float best = kForbidden;
  std::size_t index = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > best) {
      best = logits[i];
      index = i;
    }
  }
  return static_cast<TokenId>(index);
}

Sampler::Sampler(SamplingParams params, std::size_t vocab_size)
    : params_(std::move(params)), counts_(vocab_size, 0) {
  if (ChangesLogits()) adjusted_.resize(vocab_size);
}

void Sampler::Accept(TokenId token) { history_.push_back(token); }

bool Sampler::ChangesLogits() const {
  return !params_.logit_bias.empty() || params_.repeat_penalty != 1.0F ||
         params_.presence_penalty != 0.0F || params_.frequency_penalty != 0.0F;
}

void Sampler::Penalize(TokenId token, std::int32_t count) {
  float& logit = adjusted_[static_cast<std::size_t>(token)];
  logit = logit > 0 ? logit / params_.repeat_penalty : logit * params_.repeat_penalty;
  logit -= static_cast<float>(count) * params_.frequency_penalty + params_.presence_penalty;
}

std::span<const float> Sampler::Adjust(std::span<const float> logits) {
  if (!ChangesLogits()) return logits;
  std::copy(logits.begin(), logits.end(), adjusted_.begin());
  const std::size_t window = params_.repeat_last_n < 0
                                 ? history_.size()
                                 : std::min(history_.size(),
                                            static_cast<std::size_t>(params_.repeat_last_n));
  const std::span<const TokenId> recent = std::span(history_).last(window);
  for (const TokenId token : recent) ++counts_[static_cast<std::size_t>(token)];
  for (const TokenId token : recent) {
    const std::int32_t count = std::exchange(counts_[static_cast<std::size_t>(token)], 0);
    if (count != 0) Penalize(token, count);
  }
  for (const auto& [token, bias] : params_.logit_bias) {
    const auto at = static_cast<std::size_t>(token);
    if (token >= 0 && at < adjusted_.size()) adjusted_[at] += bias;
  }
  return adjusted_;
}

// Fills candidates_, most likely first; ties by id.
void Sampler::Select(std::span<const float> logits) {
  const TokenId best = ArgMax(logits);
  const float floor = params_.top_k > 0
                          ? kForbidden
                          : logits[static_cast<std::size_t>(best)] -
                                kNegligible * std::max(1.0F, params_.temperature);
  candidates_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > floor) {
      candidates_.push_back({.token = static_cast<TokenId>(i), .logit = logits[i], .p = 0});
    }
  }
  const auto before = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  const std::size_t keep = params_.top_k > 0
                               ? std::min(candidates_.size(), static_cast<std::size_t>(params_.top_k))
                               : candidates_.size();
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(keep);
  std::nth_element(candidates_.begin(), end, candidates_.end(), before);
  candidates_.resize(keep);
  std::sort(candidates_.begin(), candidates_.end(), before);
}

void Sampler::Normalize(double temperature) {
  double sum = 0;
  const double best = candidates_.front().logit;
  for (Candidate& candidate : candidates_) {
    candidate.p = FixedExp((static_cast<double>(candidate.logit) - best) / temperature);
    sum += candidate.p;
  }
  for (Candidate& candidate : candidates_) candidate.p /= sum;
}

void Sampler::KeepFirst(std::size_t count) {
  const auto least = static_cast<std::size_t>(std::max(1, params_.min_keep));
  candidates_.resize(std::min(candidates_.size(), std::max(count, least)));
}

// Locally typical sampling (Meister et al. 2022): nearest to the entropy first, until
// their probability reaches typical_p.
void Sampler::KeepTypical() {
  if (params_.typical_p >= 1.0F) return;
  Normalize(1.0);
  const auto surprise = [](const Candidate& c) { return c.p > 1e-300 ? -FixedLog(c.p) : 700.0; };
  double entropy = 0;
  for (const Candidate& candidate : candidates_) entropy += candidate.p * surprise(candidate);
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [&](const Candidate& a, const Candidate& b) {
                     return std::fabs(surprise(a) - entropy) < std::fabs(surprise(b) - entropy);
                   });
  double mass = 0;
  std::size_t count = 0;
  while (count < candidates_.size() && mass < static_cast<double>(params_.typical_p)) {
    mass += candidates_[count++].p;
  }
  KeepFirst(count);
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  });
}

void Sampler::KeepTopP() {
  if (params_.top_p >= 1.0F) return;
  Normalize(1.0);
  double mass = 0;
  std::size_t count = 0;
  while (count < candidates_.size()) {
    mass += candidates_[count++].p;
    if (mass >= static_cast<double>(params_.top_p)) break;
  }
  KeepFirst(count);
}

void Sampler::KeepMinP() {
  if (params_.min_p <= 0.0F) return;
  Normalize(1.0);
  const double least = candidates_.front().p * static_cast<double>(params_.min_p);
  const auto end = std::find_if(candidates_.begin(), candidates_.end(),
                                [&](const Candidate& candidate) { return candidate.p < least; });
  KeepFirst(static_cast<std::size_t>(end - candidates_.begin()));
}

TokenId Sampler::Sample(std::span<const float> row, std::uint64_t position) {
  const std::span<const float> logits = Adjust(row);
  if (params_.greedy()) return ArgMax(logits);
  Select(logits);
  if (candidates_.empty() || !std::isfinite(candidates_.front().logit)) return ArgMax(logits);
  KeepTypical();
  KeepTopP();
  KeepMinP();
  Normalize(static_cast<double>(params_.temperature));
  double rest = Uniform(params_.seed, position);
  for (const Candidate& candidate : candidates_) {
    rest -= candidate.p;
    if (rest < 0) return candidate.token;
  }
  return candidates_.back().token;  // the probabilities add up to a rounding less than 1
}

}  // namespace vivace
