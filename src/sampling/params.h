// SamplingParams: how the next token is chosen from a row of logits.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"

namespace vivace {

// The steps run in the order of the fields: penalties and bias, top-k, typical, top-p,
// min-p, temperature, draw. The defaults are those of llama.cpp.
struct SamplingParams {
  // Added to a token's logit; -inf forbids it. Tokens outside the vocabulary are ignored.
  std::vector<std::pair<TokenId, float>> logit_bias;
  float repeat_penalty = 1.0F;  // > 0: divides positive logits of recent tokens, else multiplies
  std::int32_t repeat_last_n = 64;  // how many recent tokens count; 0 none, -1 all
  float presence_penalty = 0.0F;    // subtracted once from a recent token's logit
  float frequency_penalty = 0.0F;   // subtracted per occurrence
  std::int32_t top_k = 40;          // the most likely ones; 0 or less: all
  float typical_p = 1.0F;           // nearest to the entropy, up to this probability; 1: all
  float top_p = 0.95F;              // the most likely, up to this probability; 1: all
  float min_p = 0.05F;              // at least this share of the most likely one's
  std::int32_t min_keep = 0;        // typical, top-p and min-p leave at least so many, and one
  float temperature = 0.8F;         // 0: the most likely token, nothing is drawn
  std::uint32_t seed = 0;

  bool greedy() const { return temperature <= 0.0F; }
  bool penalizes() const {
    return repeat_penalty != 1.0F || presence_penalty != 0.0F || frequency_penalty != 0.0F;
  }
  // Names the first value that is out of range, and the range.
  Result<void> Validate() const;
};

}  // namespace vivace
