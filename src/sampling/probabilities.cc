#include "sampling/probabilities.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sampling/exp.h"
#include "sampling/largest.h"

namespace vivace {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Logprob(float logit, double total) {
  if (std::isfinite(total)) return static_cast<double>(logit) - total;
  return static_cast<double>(logit) == kInfinity ? 0.0 : -kInfinity;
}

}  // namespace

double LogSumExp(std::span<const float> logits) {
  if (logits.empty()) return -kInfinity;
  const float best = logits[static_cast<std::size_t>(ArgMax(logits))];
  if (std::isnan(best)) return -kInfinity;
  if (std::isinf(best)) return static_cast<double>(best);
  return static_cast<double>(best) + FixedLog(SumOfWeights(logits, best));
}

std::vector<TokenLogprob> TopLogprobs(std::span<const float> logits, std::size_t count) {
  const double total = LogSumExp(logits);
  LargestFinder finder;
  std::vector<TokenLogprob> top;
  top.reserve(std::min(count, logits.size()));
  for (const Candidate& candidate : finder.Find(logits, count)) {
    top.push_back({.token = candidate.token,
                   .logit = candidate.logit,
                   .logprob = Logprob(candidate.logit, total)});
  }
  return top;
}

}  // namespace vivace
