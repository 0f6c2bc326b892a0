// CoarsePolicy: whether to try the coarse head for the next token of a sequence.
//
// Where many tokens are about as likely, finding the few largest logits reads as much as
// computing all. Then some tokens are taken from all logits, twice as many after each
// failure and half as many after each success. Changes no token, only what it costs.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vivace {

class CoarsePolicy {
 public:
  bool Try() {
    if (pause_ == 0) return true;
    --pause_;
    return false;
  }

  // After a token for which Try said yes: `share` of a full scan was read, and `decided`
  // whether that was enough to choose the token.
  void Judge(bool decided, float share) {
    constexpr std::int64_t kLongestPause = 64;
    constexpr float kWorthwhile = 0.8F;
    if (decided && share < kWorthwhile) {
      next_pause_ = std::max<std::int64_t>(next_pause_ / 2, 1);
      return;
    }
    pause_ = next_pause_;
    next_pause_ = std::min(2 * next_pause_, kLongestPause);
  }

 private:
  std::int64_t next_pause_ = 1;
  std::int64_t pause_ = 0;  // tokens to come
};

}  // namespace vivace
