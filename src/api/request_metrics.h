// RequestMetrics: how long requests waited and ran, as Prometheus histograms count it.
//
// Any thread may observe; a scrape reads without stopping anybody.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/request.h"

namespace vivace {

class Histogram {
 public:
  static constexpr std::size_t kMaxBounds = 20;

  // `bounds`: upper ends in ascending order, at most kMaxBounds; they must last.
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds) {}

  void Observe(double value);
  // Appends the lines of the text format.
  void Write(std::string_view name, std::string_view help, std::string& out) const;

 private:
  std::span<const double> bounds_;
  std::array<std::atomic<std::uint64_t>, kMaxBounds + 1> counts_{};  // not cumulative
  std::atomic<double> sum_{0};
};

class RequestMetrics {
 public:
  RequestMetrics();

  // A token of a running answer, `ms` after the one before.
  void ObserveGap(double ms) { itl.Observe(ms / 1000); }
  // A request that ended. `total_ms`: from its arrival at the server.
  void ObserveDone(const GenerateTimings& timings, double total_ms);

  Histogram ttft;
  Histogram itl;
  Histogram queue;
  Histogram e2e;
  Histogram prefill_rate;
};

}  // namespace vivace
