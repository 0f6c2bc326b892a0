// The tokens of one sequence so far, and what penalties take from those that return.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"
#include "sampling/params.h"

namespace vivace {

class Penalties {
 public:
  explicit Penalties(std::size_t vocab_size) : counts_(vocab_size) {}

  // Precondition: 0 <= token < vocab_size.
  void Accept(TokenId token);

  // The newest `last_n` tokens, or all with a negative number.
  std::span<const TokenId> Recent(std::int32_t last_n) const;

  // Repeat, presence and frequency penalties on `logits` [vocab_size]. Does not allocate.
  void Apply(const SamplingParams& params, std::span<float> logits);

 private:
  std::vector<TokenId> history_;
  std::vector<std::int32_t> counts_;  // [vocab_size], zero between calls
};

}  // namespace vivace
