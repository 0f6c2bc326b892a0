#include "sampling/probabilities.h"

#include <algorithm>

#include "sampling/exp.h"
#include "sampling/sampler.h"

namespace vivace {

double LogSumExp(std::span<const float> logits) {
  const double best = logits[static_cast<std::size_t>(ArgMax(logits))];
  double sum = 0;
  for (const float logit : logits) {
    const double below = static_cast<double>(logit) - best;
    // exp(-40) is under half an ulp of the sum, which is at least 1; NaN is left out.
    if (below > -40.0) sum += FixedExp(below);
  }
  return best + FixedLog(sum);
}

std::vector<TokenLogprob> TopLogprobs(std::span<const float> logits, std::size_t count) {
  const double total = LogSumExp(logits);
  std::vector<TokenLogprob> all(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    all[i] = {.token = static_cast<TokenId>(i),
              .logit = logits[i],
              .logprob = static_cast<double>(logits[i]) - total};
  }
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()));
  std::partial_sort(all.begin(), end, all.end(), [](const TokenLogprob& a, const TokenLogprob& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  });
  all.erase(end, all.end());
  return all;
}

}  // namespace vivace
