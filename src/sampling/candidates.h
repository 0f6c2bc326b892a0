// What the steps of sampling share about rows of candidates, sorted most likely first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "sampling/exp.h"
#include "sampling/largest.h"

namespace vivace {

inline constexpr float kForbidden = -std::numeric_limits<float>::infinity();

// Cuts off the tokens of probability 0.
inline std::span<Candidate> WithoutForbidden(std::span<Candidate> sorted) {
  while (!sorted.empty() && sorted.back().logit == kForbidden) {
    sorted = sorted.first(sorted.size() - 1);
  }
  return sorted;
}

// The weight of a candidate relative to the first, whose weight is 1.
inline float WeightOf(const Candidate& candidate, std::span<const Candidate> sorted) {
  return FixedExp(candidate.logit - sorted.front().logit);
}

inline double SumOfWeights(std::span<const Candidate> sorted) {
  double sum = 0;
  for (const Candidate& candidate : sorted) {
    sum += static_cast<double>(WeightOf(candidate, sorted));
  }
  return sum;
}

// In nats, of the candidates alone.
inline double EntropyOf(std::span<const Candidate> sorted) {
  const double total = SumOfWeights(sorted);
  const double log_total = FixedLog(total);
  double entropy = 0;
  for (const Candidate& candidate : sorted) {
    const double p = static_cast<double>(WeightOf(candidate, sorted)) / total;
    const double below_best = static_cast<double>(candidate.logit - sorted.front().logit);
    // An infinite surprise of probability 0 adds nothing.
    if (p > 0) entropy += p * (log_total - below_best);
  }
  return entropy;
}

// Where the sum of weights exceeds `target`, which is lowered by those before; the last
// weight above 0 if rounding lets the sum end before.
template <class T>
std::size_t Pick(std::span<const T> weights, double& target) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto weight = static_cast<double>(weights[i]);
    if (weight <= 0) continue;
    last = i;
    if (target < weight) break;
    target -= weight;
  }
  return last;
}

}  // namespace vivace
