// SamplingParams: how the next token is chosen from a row of logits.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"

namespace vivace {

// What stands between the logits and the draw, in its usual order.
enum class SamplingStep : std::uint8_t {
  kPenalties,
  kDry,
  kTopNSigma,
  kTopK,
  kTypical,
  kTopP,
  kMinP,
  kXtc,
  kTemperature,
};

// "Don't repeat yourself": a token that would continue a repetition of `allowed_length`
// or more tokens loses multiplier * base^(length - allowed_length).
struct DryParams {
  float multiplier = 0.0F;  // 0: off
  float base = 1.75F;       // >= 1
  std::int32_t allowed_length = 2;
  std::int32_t last_n = 64;       // tokens that are looked at; 0 none, -1 all
  std::vector<TokenId> breakers;  // ascending: no repetition goes beyond one of these
};

// Mirostat (Basu et al. 2020) keeps the surprise of the text near `tau` bits. Version 1
// or 2 takes the place of all steps but the temperature; 0: off.
struct MirostatParams {
  std::int32_t version = 0;
  float tau = 5.0F;
  float eta = 0.1F;  // how fast it follows
};

// Adaptive-p: draws tokens whose probability is near a target, which follows what was
// drawn. Comes after all steps.
struct AdaptiveParams {
  float target = -1.0F;  // a probability; below 0: off
  float decay = 0.9F;    // of the memory of what was drawn, 0 to 0.99
};

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

  // Rarely asked for. Where one is on, SamplerChain runs the steps one by one.
  DryParams dry = {};
  float top_n_sigma = -1.0F;     // within so many deviations of the best logit; 0 or less: all
  float xtc_probability = 0.0F;  // how often all tokens above the threshold but the least
  float xtc_threshold = 0.1F;    // likely of them are left out; above 0.5: never
  float dynatemp_range = 0.0F;   // the temperature follows the entropy, up and down by this
  float dynatemp_exponent = 1.0F;
  MirostatParams mirostat = {};
  AdaptiveParams adaptive = {};
  std::vector<SamplingStep> steps = {};  // in this order, and no others; empty: the usual ones

  bool needs_chain() const {
    return !steps.empty() || dry.multiplier > 0 || top_n_sigma > 0 || xtc_probability > 0 ||
           dynatemp_range > 0 || mirostat.version != 0 || adaptive.target >= 0;
  }
  bool greedy() const { return temperature <= 0.0F; }
  bool penalizes() const {
    return repeat_penalty != 1.0F || presence_penalty != 0.0F || frequency_penalty != 0.0F;
  }
  // Names the first value that is out of range, and the range.
  Result<void> Validate() const;
};

}  // namespace vivace
