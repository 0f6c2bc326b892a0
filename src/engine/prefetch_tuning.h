// PrefetchTuning: finds the software prefetch distance of this machine while it works.
//
// Decode steps all do the same work, so the distances take turns at real steps and the one
// with the smallest median time wins; no step is slower than the worst distance makes it,
// and no result depends on it. Half of a machine's speed of memory can be at stake, and
// which distance is best differs between processors, and between a machine and its guests.
// The engine's thread owns it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vivace {

class PrefetchTuning {
 public:
  // Bytes; 0 is no software prefetch. The first is used until something is known.
  static constexpr std::array<std::int64_t, 4> kDistances = {2048, 0, 4096, 8192};
  static constexpr std::size_t kRounds = 9;

  // What an earlier run has found, or nothing known.
  PrefetchTuning() = default;
  explicit PrefetchTuning(std::int64_t known) : chosen_(known), done_(true) {}

  // The distance to use for the next step.
  std::int64_t distance() const { return done_ ? chosen_ : kDistances[turn_ % kDistances.size()]; }

  // What a decode step of one row with distance() took.
  void Record(double ms);

  bool done() const { return done_; }

 private:
  std::int64_t chosen_ = kDistances[0];
  bool done_ = false;
  std::size_t turn_ = 0;
  std::array<std::vector<double>, kDistances.size()> times_;
};

}  // namespace vivace
