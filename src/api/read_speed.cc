#include "api/read_speed.h"

namespace vivace {

double ReadSpeedWindow::Add(double now, const LayerReads& reads) {
  // A model that was unloaded took its counters with it.
  if (!looks_.empty() && reads.seconds < looks_.back().reads.seconds) looks_.clear();
  // Stays behind by one: the window begins at the last look before it.
  while (looks_.size() > 1 && looks_[1].time <= now - kSeconds) looks_.pop_front();
  double speed = 0;
  if (!looks_.empty()) {
    const LayerReads& before = looks_.front().reads;
    const double seconds = reads.seconds - before.seconds;
    if (seconds > 0) speed = (reads.bytes - before.bytes) / seconds;
  }
  // Many pages that look at once need not each leave a mark.
  if (looks_.empty() || now - looks_.back().time >= kSeconds / 10) looks_.push_back({now, reads});
  return speed;
}

}  // namespace vivace
