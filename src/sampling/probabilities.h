// Log-probabilities of a row of logits by a plain softmax.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/token_id.h"

namespace vivace {

struct TokenLogprob {
  TokenId token;
  float logit;
  double logprob;
};

// log(sum(exp(logits))), summed in double in index order.
double LogSumExp(std::span<const float> logits);

// The `count` most likely tokens, best first, ties by id; fewer when the row is shorter.
std::vector<TokenLogprob> TopLogprobs(std::span<const float> logits, std::size_t count);

}  // namespace vivace
