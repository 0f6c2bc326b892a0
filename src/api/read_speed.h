// ReadSpeedWindow: how fast weights were read lately, from counters that only grow.
//
// For one thread.
#pragma once

#include <deque>

namespace vivace {

// What was read since the start, and the time it took.
struct LayerReads {
  double bytes = 0;
  double seconds = 0;
};

class ReadSpeedWindow {
 public:
  static constexpr double kSeconds = 3;  // how far it looks back

  // Bytes per second of the time that reading took within the window; 0 where nothing was
  // read. Whoever looks seldom sees the time since the last look.
  double Add(double now, const LayerReads& reads);

 private:
  struct Look {
    double time;
    LayerReads reads;
  };
  std::deque<Look> looks_;
};

}  // namespace vivace
