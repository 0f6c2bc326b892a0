#include "sampling/penalties.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace vivace {

void Penalties::Accept(TokenId token) {
  VIVACE_DCHECK(token >= 0 && static_cast<std::size_t>(token) < counts_.size(), "no such token");
  history_.push_back(token);
}

std::span<const TokenId> Penalties::Recent(std::int32_t last_n) const {
  const std::size_t most = last_n < 0 ? history_.size() : static_cast<std::size_t>(last_n);
  return std::span(history_).last(std::min(history_.size(), most));
}

void Penalties::Apply(const SamplingParams& params, std::span<float> logits) {
  const std::span<const TokenId> recent = Recent(params.repeat_last_n);
  for (const TokenId token : recent) ++counts_[static_cast<std::size_t>(token)];
  for (const TokenId token : recent) {
    const auto at = static_cast<std::size_t>(token);
    const std::int32_t count = std::exchange(counts_[at], 0);
    if (count == 0) continue;
    float& logit = logits[at];
    logit = logit > 0 ? logit / params.repeat_penalty : logit * params.repeat_penalty;
    logit -= static_cast<float>(count) * params.frequency_penalty + params.presence_penalty;
  }
}

}  // namespace vivace
