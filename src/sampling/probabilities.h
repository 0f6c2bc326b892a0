// Log-probabilities of a row of logits by a plain softmax, whatever a sampler does to it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/token_id.h"

namespace vivace {

struct TokenLogprob {
  TokenId token;
  float logit;
  double logprob;  // -inf for a logit of -inf or NaN
};

// log(sum(exp(logits))), summed in double in a fixed order; NaN is left out. Infinite where
// the largest logit is. Error below 1e-6.
double LogSumExp(std::span<const float> logits);

// The `count` most likely tokens, best first, ties by id; fewer when the row is shorter.
std::vector<TokenLogprob> TopLogprobs(std::span<const float> logits, std::size_t count);

}  // namespace vivace
