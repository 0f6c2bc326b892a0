#include "sampling/sampler_chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "sampling/candidates.h"
#include "sampling/exp.h"
#include "sampling/random.h"

namespace vivace {
namespace {

constexpr SamplingStep kUsualSteps[] = {
    SamplingStep::kPenalties, SamplingStep::kDry,     SamplingStep::kTopNSigma,
    SamplingStep::kTopK,      SamplingStep::kTypical, SamplingStep::kTopP,
    SamplingStep::kMinP,      SamplingStep::kXtc,     SamplingStep::kTemperature};

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
// Another stream of random numbers than that of the draw.
constexpr std::uint32_t kXtcStream = 0x78746321;
// How many of the most likely tokens Mirostat 1 estimates the tail by (its paper's m).
constexpr std::size_t kTail = 100;

double Log2(double x) { return FixedLog(x) / std::numbers::ln2; }

// base^exponent for base > 0, by the fixed functions; at most e^87.
double Power(double base, double exponent) {
  const double power = std::min(exponent * FixedLog(base), 87.0);
  if (power <= 0) return static_cast<double>(FixedExp(static_cast<float>(power)));
  return 1 / static_cast<double>(FixedExp(static_cast<float>(-power)));
}

std::size_t Least(const SamplingParams& params) {
  return static_cast<std::size_t>(std::max(1, params.min_keep));
}

}  // namespace

SamplerChain::SamplerChain(SamplingParams params, std::size_t vocab_size)
    : params_(std::move(params)),
      steps_(params_.steps),
      penalties_(vocab_size),
      row_(vocab_size),
      most_surprise_(2 * static_cast<double>(params_.mirostat.tau)) {
  if (steps_.empty()) steps_.assign(std::begin(kUsualSteps), std::end(kUsualSteps));
  if (params_.mirostat.version != 0) steps_ = {SamplingStep::kTemperature};
  const auto decay = static_cast<double>(params_.adaptive.decay);
  drawn_weight_ = 1 / (1 - decay);
  drawn_mass_ = static_cast<double>(params_.adaptive.target) * drawn_weight_;
  finder_.Reserve(vocab_size);
  list_.reserve(vocab_size);
  weights_.reserve(vocab_size);
  probabilities_.reserve(vocab_size);
  typical_.Reserve(vocab_size);
}

void SamplerChain::Accept(TokenId token) {
  penalties_.Accept(token);
  const auto drawn = std::exchange(drawn_, std::nullopt);
  if (!drawn || drawn->token != token) return;
  most_surprise_ -= static_cast<double>(params_.mirostat.eta) *
                    (drawn->surprise - static_cast<double>(params_.mirostat.tau));
  const auto decay = static_cast<double>(params_.adaptive.decay);
  drawn_mass_ = drawn->probability + decay * drawn_mass_;
  drawn_weight_ = 1 + decay * drawn_weight_;
}

void SamplerChain::AsRow() {
  if (!is_list_) return;
  std::ranges::fill(row_, kForbidden);
  for (const Candidate& candidate : list_)
    row_[static_cast<std::size_t>(candidate.token)] = candidate.logit;
  is_list_ = false;
}

void SamplerChain::AsList(std::size_t most) {
  size_ = std::min(size_, most);
  if (!is_list_) {
    const auto found = WithoutForbidden(finder_.Find(row_, size_));
    list_.assign(found.begin(), found.end());
    is_list_ = true;
  } else if (list_.size() > size_) {
    list_.resize(size_);
  }
  size_ = list_.size();
}

void SamplerChain::Penalize() {
  if (!params_.penalizes()) return;
  AsRow();
  penalties_.Apply(params_, row_);
}

void SamplerChain::PenalizeRepetitions() {
  const DryParams& dry = params_.dry;
  if (dry.multiplier <= 0) return;
  AsRow();
  for (const Repetition& repetition :
       repetitions_.Find(penalties_.Recent(dry.last_n), dry.breakers)) {
    if (repetition.length < dry.allowed_length) continue;
    const double grown =
        Power(static_cast<double>(dry.base), repetition.length - dry.allowed_length);
    row_[static_cast<std::size_t>(repetition.next)] -=
        static_cast<float>(std::min(static_cast<double>(dry.multiplier) * grown, 1e30));
  }
}

// Top-n-sigma (Tang et al. 2024): logits within n standard deviations of the best.
void SamplerChain::KeepNearBest() {
  if (params_.top_n_sigma <= 0) return;
  AsList(kAll);
  double sum = 0;
  for (const Candidate& candidate : list_) sum += static_cast<double>(candidate.logit);
  const double mean = sum / static_cast<double>(list_.size());
  double squares = 0;
  for (const Candidate& candidate : list_) {
    const double off = static_cast<double>(candidate.logit) - mean;
    squares += off * off;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(list_.size()));
  const double least = static_cast<double>(list_.front().logit) -
                       static_cast<double>(params_.top_n_sigma) * deviation;
  std::size_t kept = 1;
  while (kept < list_.size() && static_cast<double>(list_[kept].logit) >= least) ++kept;
  AsList(kept);
}

void SamplerChain::KeepMass() {
  if (params_.top_p >= 1) return;
  AsList(kAll);
  const double enough = static_cast<double>(params_.top_p) * SumOfWeights(list_);
  double mass = 0;
  std::size_t kept = 0;
  while (kept < list_.size() && (kept < Least(params_) || mass < enough)) {
    mass += static_cast<double>(WeightOf(list_[kept++], list_));
  }
  AsList(kept);
}

void SamplerChain::KeepShare() {
  if (params_.min_p <= 0) return;
  AsList(kAll);
  std::size_t kept = 0;
  while (kept < list_.size() &&
         (kept < Least(params_) || WeightOf(list_[kept], list_) >= params_.min_p)) {
    ++kept;
  }
  AsList(kept);
}

// "Exclude top choices": of the tokens above the threshold only the least likely stays.
void SamplerChain::ExcludeTop(std::uint64_t position) {
  if (params_.xtc_probability <= 0 || params_.xtc_threshold > 0.5F) return;
  AsList(kAll);
  if (Uniform(params_.seed ^ kXtcStream, position) >= static_cast<double>(params_.xtc_probability))
    return;
  const double threshold = static_cast<double>(params_.xtc_threshold) * SumOfWeights(list_);
  std::size_t above = 0;
  while (above < list_.size() && static_cast<double>(WeightOf(list_[above], list_)) >= threshold)
    ++above;
  if (above < 2 || list_.size() - (above - 1) < Least(params_)) return;
  list_.erase(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(above) - 1);
  size_ = list_.size();
}

void SamplerChain::Scale(float factor) {
  if (!is_list_) {
    for (float& logit : row_) logit *= factor;
  } else {
    for (Candidate& candidate : list_) candidate.logit *= factor;
  }
}

// The temperature, or with a range one that rises with the entropy ("dynatemp").
void SamplerChain::Temper() {
  auto temperature = static_cast<double>(params_.temperature);
  if (params_.dynatemp_range > 0) {
    AsList(kAll);
    if (list_.size() < 2) return;
    const auto range = static_cast<double>(params_.dynatemp_range);
    const double low = std::max(0.0, temperature - range);
    const double share = EntropyOf(list_) / FixedLog(static_cast<double>(list_.size()));
    const double raised =
        share > 0 ? Power(share, static_cast<double>(params_.dynatemp_exponent)) : 0.0;
    temperature = low + (temperature + range - low) * raised;
  }
  if (temperature <= 0) return AsList(1);
  Scale(static_cast<float>(1 / std::max(temperature, 1e-6)));
}

// Leaves the tokens up to a surprise of mu: by their own (version 2), or by how many of the
// most likely ones make that up if probabilities fall like a power of the rank (version 1).
void SamplerChain::CutToSurprise() {
  AsList(kAll);
  const double total = SumOfWeights(list_);
  const auto probability = [&](std::size_t i) {
    return static_cast<double>(WeightOf(list_[i], list_)) / total;
  };
  std::size_t kept = 1;
  if (params_.mirostat.version == 2) {
    while (kept < list_.size() && probability(kept) > 0 &&
           -Log2(probability(kept)) <= most_surprise_) {
      ++kept;
    }
    return AsList(kept);
  }
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i + 1 < std::min(kTail, list_.size()) && probability(i + 1) > 0; ++i) {
    const double ranks = FixedLog(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    products += ranks * FixedLog(probability(i) / probability(i + 1));
    squares += ranks * ranks;
  }
  if (products <= 0) return;
  const double slope = products / squares;
  const double beyond = slope - 1;
  const double size = static_cast<double>(row_.size());
  const double share =
      std::abs(beyond) < 1e-6 ? FixedLog(size) : (1 - Power(size, -beyond)) / beyond;
  const double most = Power(Power(2, most_surprise_) / share, 1 / slope);
  AsList(static_cast<std::size_t>(std::clamp(most, 1.0, size)));
}

// Makes those most likely whose probability is near the target: 5 at it, falling to -5 - 10
// times the distance in widths of 0.3.
void SamplerChain::Adapt() {
  AsList(kAll);
  const auto target = static_cast<double>(params_.adaptive.target);
  const double wished = std::clamp(2 * target - drawn_mass_ / drawn_weight_, 0.0, 1.0);
  const double total = SumOfWeights(list_);
  probabilities_.clear();
  for (const Candidate& candidate : list_) {
    probabilities_.push_back(static_cast<double>(WeightOf(candidate, list_)) / total);
  }
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const double distance = std::abs(probabilities_[i] - wished) / 0.3;
    list_[i].logit = static_cast<float>(5 - 10 * distance * distance / (1 + distance));
  }
}

void SamplerChain::Apply(SamplingStep step, std::uint64_t position) {
  switch (step) {
    case SamplingStep::kPenalties:
      return Penalize();
    case SamplingStep::kDry:
      return PenalizeRepetitions();
    case SamplingStep::kTopNSigma:
      return KeepNearBest();
    case SamplingStep::kTopK:
      if (params_.top_k > 0) AsList(static_cast<std::size_t>(params_.top_k));
      return;
    case SamplingStep::kTypical:
      if (params_.typical_p < 1) {
        AsList(kAll);
        AsList(typical_.Keep(list_, params_.typical_p, Least(params_)).size());
      }
      return;
    case SamplingStep::kTopP:
      return KeepMass();
    case SamplingStep::kMinP:
      return KeepShare();
    case SamplingStep::kXtc:
      return ExcludeTop(position);
    case SamplingStep::kTemperature:
      return Temper();
  }
}

std::span<const Candidate> SamplerChain::Run(std::span<const float> logits,
                                             std::uint64_t position) {
  std::ranges::copy(logits, row_.begin());
  is_list_ = false;
  size_ = row_.size();
  for (const SamplingStep step : steps_) {
    Apply(step, position);
    // Nothing is possible: the other steps have nothing to look at.
    if (is_list_ && list_.empty()) return list_;
  }
  if (params_.mirostat.version != 0) CutToSurprise();
  if (params_.adaptive.target >= 0) Adapt();
  AsList(kAll);
  return list_;
}

TokenId SamplerChain::Sample(std::span<const float> logits, std::uint64_t position) {
  const TokenId best = ArgMax(logits);
  if (!std::isfinite(logits[static_cast<std::size_t>(best)])) return best;
  const auto left = Run(logits, position);
  if (left.empty()) return best;
  // Adaptive-p leaves them in another order.
  float highest = left.front().logit;
  for (const Candidate& candidate : left) highest = std::max(highest, candidate.logit);
  weights_.clear();
  double sum = 0;
  for (const Candidate& candidate : left) {
    weights_.push_back(FixedExp(candidate.logit - highest));
    sum += static_cast<double>(weights_.back());
  }
  double target = Uniform(params_.seed, position) * sum;
  const std::size_t drawn = Pick(std::span<const float>(weights_), target);
  drawn_ = {.token = left[drawn].token,
            .surprise = -Log2(static_cast<double>(weights_[drawn]) / sum),
            .probability = probabilities_.empty() ? 0 : probabilities_[drawn]};
  return drawn_->token;
}

}  // namespace vivace
