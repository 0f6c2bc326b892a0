// TokenMask: which tokens may come next, a bit for each of the vocabulary; empty: all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/token_id.h"

namespace vivace {

using TokenMask = std::span<const std::uint32_t>;

inline bool Allows(TokenMask mask, TokenId token) {
  const auto at = static_cast<std::size_t>(token);
  return mask.empty() || (mask[at / 32] >> (at % 32) & 1U) != 0;
}

// Sets the logits of what is forbidden to -infinity. `logits` are those of the tokens from
// `first` on, which is a multiple of 16. A word of the mask is mostly all ones, or zero.
inline void Forbid(TokenMask mask, std::size_t first, std::span<float> logits) {
  if (mask.empty()) return;
  constexpr float kForbidden = -std::numeric_limits<float>::infinity();
  for (std::size_t at = 0; at < logits.size();) {
    const std::size_t token = first + at;
    const std::size_t count = std::min<std::size_t>(32 - token % 32, logits.size() - at);
    const std::uint32_t bits = mask[token / 32] >> (token % 32);
    const std::uint32_t all = count == 32 ? ~0U : (1U << count) - 1;
    if ((bits & all) != all) {
      for (std::size_t i = 0; i < count; ++i) {
        if ((bits >> i & 1U) == 0) logits[at + i] = kForbidden;
      }
    }
    at += count;
  }
}

}  // namespace vivace
