// Sampler: chooses the tokens of one sequence. Deterministic: the same logits, history,
// seed and position give the same token on every machine. Not thread-safe. Sample does
// not allocate once its buffers have grown to the number of candidates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"
#include "sampling/params.h"

namespace vivace {

// The index of the largest value; the first of equals; NaN counts as -inf. 0 for none.
TokenId ArgMax(std::span<const float> logits);

class Sampler {
 public:
  // Precondition: params.Validate() succeeded.
  Sampler(SamplingParams params, std::size_t vocab_size);

  // The token after the accepted ones. `position` is its place in the sequence.
  TokenId Sample(std::span<const float> logits, std::uint64_t position);

  // Adds a token, of the prompt or sampled, to the history that penalties look at.
  void Accept(TokenId token);

 private:
  struct Candidate {
    TokenId token;
    float logit;
    double p;
  };

  bool ChangesLogits() const;
  std::span<const float> Adjust(std::span<const float> logits);
  void Penalize(TokenId token, std::int32_t count);
  void Select(std::span<const float> logits);
  void Normalize(double temperature);
  void KeepTypical();
  void KeepTopP();
  void KeepMinP();
  void KeepFirst(std::size_t count);

  SamplingParams params_;
  std::vector<TokenId> history_;
  std::vector<float> adjusted_;
  std::vector<std::int32_t> counts_;  // [vocab_size], zero between calls
  std::vector<Candidate> candidates_;  // most likely first
};

}  // namespace vivace
