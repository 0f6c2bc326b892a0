#include "sampling/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "sampling/candidates.h"
#include "sampling/exp.h"
#include "sampling/random.h"

namespace vivace {
namespace {

// Below this a temperature acts like it, so that its inverse is finite: logits that differ
// by more than 0.0001 are never confused there.
constexpr float kLowestTemperature = 1e-6F;

// How many candidates are sorted, one after the other until it is enough, where nothing but
// probabilities bounds their number. Then all are.
constexpr std::size_t kSorted[] = {256, 2048};

// What SampleAbove needs: a token this far below the best has a thousandth of its
// probability, and 40 of those do not often move the edge of top-p.
constexpr float kDepth = 7;
// The same for the largest logit after penalties, which usually cost less than this.
constexpr float kLoweredDepth = 3;

// Where nothing that is allowed has a finite logit.
TokenId FirstAllowed(TokenMask mask) {
  const auto word = std::ranges::find_if(mask, [](std::uint32_t bits) { return bits != 0; });
  if (word == mask.end()) return 0;
  return static_cast<TokenId>((word - mask.begin()) * 32 + std::countr_zero(*word));
}

}  // namespace

Sampler::Sampler(SamplingParams params, std::size_t vocab_size, bool masked)
    : params_(std::move(params)), scale_(1.0F / std::max(params_.temperature, kLowestTemperature)) {
  if (params_.needs_chain()) chain_.emplace(params_, vocab_size);
  if (params_.penalizes() && !chain_) penalties_.emplace(vocab_size);
  if (masked || Adjusts()) adjusted_.resize(vocab_size);
  if (params_.greedy()) return;
  // Untouched until needed: with the usual filters only a few pages ever are.
  finder_.Reserve(vocab_size);
  weights_.reserve(vocab_size);
  block_sums_.reserve(vocab_size / kWeightBlock + 1);
  if (params_.typical_p < 1.0F) typical_.Reserve(vocab_size);
}

bool Sampler::Filters() const {
  return params_.top_k > 0 || params_.typical_p < 1.0F || params_.top_p < 1.0F ||
         params_.min_p > 0.0F;
}

void Sampler::Accept(TokenId token) {
  if (chain_) chain_->Accept(token);
  if (penalties_) penalties_->Accept(token);
}

std::span<const float> Sampler::Adjust(std::span<const float> logits, TokenMask mask) {
  if (mask.empty() && !Adjusts()) return logits;
  VIVACE_DCHECK(adjusted_.size() == logits.size(), "the sampler expects no masks");
  std::ranges::copy(logits, adjusted_.begin());
  Forbid(mask, 0, adjusted_);
  if (penalties_) penalties_->Apply(params_, adjusted_);
  for (const auto& [token, bias] : params_.logit_bias) {
    const auto at = static_cast<std::size_t>(token);
    if (at < adjusted_.size()) adjusted_[at] += bias;
  }
  return adjusted_;
}

// How many of the candidates, most likely first, pass top-p and min-p. `total` is the sum
// of all weights relative to the first.
std::size_t Sampler::CountKept(std::span<const Candidate> sorted, double total) const {
  const auto least =
      std::min(static_cast<std::size_t>(std::max(1, params_.min_keep)), sorted.size());
  const double enough = static_cast<double>(params_.top_p) * total;
  double mass = 0;
  std::size_t count = 0;
  for (; count < sorted.size(); ++count) {
    const float weight = FixedExp(sorted[count].logit - sorted.front().logit);
    if (weight < params_.min_p) break;
    if (params_.top_p < 1.0F && mass >= enough && count > 0) break;
    mass += static_cast<double>(weight);
  }
  return std::max(count, least);
}

// As CountKept for the `top_k` largest, of which only those from `floor` on up are known.
std::optional<std::size_t> Sampler::CountKeptAbove(std::span<const Candidate> known,
                                                   float floor) const {
  const double total = SumOfWeights(known);
  const std::size_t unknown = static_cast<std::size_t>(params_.top_k) - known.size();
  if (unknown == 0) return CountKept(known, total);
  if (static_cast<std::size_t>(std::max(1, params_.min_keep)) > known.size()) return std::nullopt;
  // Rounded up: each of them weighs at most that.
  const double most =
      static_cast<double>(FixedExp(floor - known.front().logit)) * (1 + 1e-6) + 1e-30;
  const std::size_t kept = CountKept(known, total);
  const double largest_total = (total + static_cast<double>(unknown) * most) * (1 + 1e-9);
  if (CountKept(known, largest_total) != kept) return std::nullopt;
  // All are kept: so may be the next one.
  if (kept == known.size() && most >= static_cast<double>(params_.min_p)) return std::nullopt;
  return kept;
}

// The candidates that pass all filters, most likely first; at least one.
std::span<Candidate> Sampler::Keep(std::span<const float> logits) {
  if (params_.top_k > 0 || params_.typical_p < 1.0F) {
    const std::size_t count =
        params_.top_k > 0 ? static_cast<std::size_t>(params_.top_k) : logits.size();
    std::span<Candidate> sorted = WithoutForbidden(finder_.Find(logits, count));
    if (params_.typical_p < 1.0F) {
      const auto least = static_cast<std::size_t>(std::max(1, params_.min_keep));
      sorted = typical_.Keep(sorted, params_.typical_p, least);
    }
    return sorted.first(CountKept(sorted, SumOfWeights(sorted)));
  }
  // Top-p and min-p keep the beginning of the sorted row, usually a short one: sort more
  // of it only if they keep all of what is there.
  const float best = logits[static_cast<std::size_t>(ArgMax(logits))];
  const double total = params_.top_p < 1.0F ? SumOfWeights(logits, best) : 0;
  for (const std::size_t count : kSorted) {
    const std::span<Candidate> sorted = WithoutForbidden(finder_.Find(logits, count));
    const std::size_t kept = CountKept(sorted, total);
    if (kept < sorted.size() || sorted.size() < count) return sorted.first(kept);
  }
  const std::span<Candidate> sorted = WithoutForbidden(finder_.Find(logits, logits.size()));
  return sorted.first(CountKept(sorted, total));
}

TokenId Sampler::DrawFrom(std::span<const Candidate> kept, double uniform) {
  weights_.clear();
  double sum = 0;
  for (const Candidate& candidate : kept) {
    weights_.push_back(FixedExp((candidate.logit - kept.front().logit) * scale_));
    sum += static_cast<double>(weights_.back());
  }
  double target = uniform * sum;
  return kept[Pick(std::span<const float>(weights_), target)].token;
}

TokenId Sampler::DrawFromAll(std::span<const float> logits, float best, double uniform) {
  weights_.resize(logits.size());
  block_sums_.clear();
  double sum = 0;
  for (std::size_t begin = 0; begin < logits.size(); begin += kWeightBlock) {
    const std::size_t count = std::min(kWeightBlock, logits.size() - begin);
    block_sums_.push_back(
        WeighBlock(logits.data() + begin, count, best, scale_, weights_.data() + begin));
    sum += block_sums_.back();
  }
  double target = uniform * sum;
  const std::size_t begin = Pick(std::span<const double>(block_sums_), target) * kWeightBlock;
  const auto block = std::span<const float>(weights_).subspan(
      begin, std::min(kWeightBlock, logits.size() - begin));
  return static_cast<TokenId>(begin + Pick(block, target));
}

bool Sampler::OnlyLowers() const {
  return params_.repeat_penalty >= 1 && params_.presence_penalty >= 0 &&
         params_.frequency_penalty >= 0 &&
         std::ranges::all_of(params_.logit_bias, [](const auto& bias) { return bias.second <= 0; });
}

// Logits that are lowered stay below the floor where they were; raised ones could pass it.
bool Sampler::NeedsOnlyTheLargest() const {
  if (chain_ || !OnlyLowers()) return false;
  if (params_.greedy()) return true;
  return params_.top_k > 0 && params_.typical_p >= 1.0F &&
         (params_.min_p > 0 || params_.top_p < 1.0F);
}

float Sampler::DepthNeeded() const {
  if (!params_.greedy()) return kDepth;
  return Adjusts() ? kLoweredDepth : 0.0F;
}

std::optional<TokenId> Sampler::SampleAbove(std::span<const float> row, float floor,
                                            std::uint64_t position) {
  VIVACE_DCHECK(NeedsOnlyTheLargest(), "all logits are needed");
  const std::span<const float> logits = Adjust(row, {});
  const TokenId best = ArgMax(logits);
  const float best_logit = logits[static_cast<std::size_t>(best)];
  if (params_.greedy()) {
    return best_logit >= floor ? std::optional(best) : std::nullopt;
  }
  if (!std::isfinite(best_logit) || !std::isfinite(floor)) return std::nullopt;
  std::span<Candidate> known = finder_.Find(logits, static_cast<std::size_t>(params_.top_k));
  while (!known.empty() && known.back().logit < floor) known = known.first(known.size() - 1);
  if (known.empty()) return std::nullopt;
  const auto kept = CountKeptAbove(known, floor);
  if (!kept) return std::nullopt;
  return DrawFrom(known.first(*kept), Uniform(params_.seed, position));
}

TokenId Sampler::Sample(std::span<const float> row, std::uint64_t position, TokenMask mask) {
  const std::span<const float> logits = Adjust(row, mask);
  if (chain_) {
    const TokenId chosen = chain_->Sample(logits, position);
    return Allows(mask, chosen) ? chosen : FirstAllowed(mask);
  }
  const TokenId best = ArgMax(logits);
  if (!Allows(mask, best)) return FirstAllowed(mask);
  const float best_logit = logits[static_cast<std::size_t>(best)];
  if (params_.greedy() || !std::isfinite(best_logit)) return best;
  const double uniform = Uniform(params_.seed, position);
  return Filters() ? DrawFrom(Keep(logits), uniform) : DrawFromAll(logits, best_logit, uniform);
}

std::span<const Candidate> Sampler::Left(std::span<const float> logits, std::uint64_t position) {
  if (chain_) return chain_->Run(logits, position);
  return Filters() ? Keep(logits) : WithoutForbidden(finder_.Find(logits, logits.size()));
}

std::vector<TokenLogprob> Sampler::Kept(std::span<const float> row, std::uint64_t position,
                                        TokenMask mask) {
  const std::span<const float> logits = Adjust(row, mask);
  const TokenId best = ArgMax(logits);
  const float best_logit = logits[static_cast<std::size_t>(best)];
  if (!Allows(mask, best)) {
    return {{.token = FirstAllowed(mask), .logit = kForbidden, .logprob = 0}};
  }
  if ((params_.greedy() && !chain_) || !std::isfinite(best_logit)) {
    return {{.token = best, .logit = best_logit, .logprob = 0}};
  }
  const std::span<const Candidate> kept = Left(logits, position);
  const float highest = std::ranges::max(kept, {}, &Candidate::logit).logit;
  const float scale = chain_ ? 1.0F : scale_;  // the chain's logits have their temperature
  const auto below_best = [&](const Candidate& candidate) {
    return (candidate.logit - highest) * scale;
  };
  double sum = 0;
  for (const Candidate& candidate : kept) {
    sum += static_cast<double>(FixedExp(below_best(candidate)));
  }
  std::vector<TokenLogprob> result;
  result.reserve(kept.size());
  for (const Candidate& candidate : kept) {
    result.push_back({.token = candidate.token,
                      .logit = candidate.logit,
                      .logprob = static_cast<double>(below_best(candidate)) - FixedLog(sum)});
  }
  std::ranges::stable_sort(result, std::ranges::greater{}, &TokenLogprob::logit);
  return result;
}

}  // namespace vivace
