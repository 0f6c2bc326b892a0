// Steady time, for durations.
#pragma once

#include <chrono>

namespace vivace {

// Milliseconds since an arbitrary start; never goes back.
inline double NowMs() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace vivace
