#include "api/request_metrics.h"

#include <algorithm>

#include <fmt/format.h>

namespace vivace {
namespace {

constexpr std::array kSeconds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.25,  0.5,  1.0,
                                 2.5,   5.0,  10.0,  25.0, 50.0, 100.0, 250.0};
constexpr std::array kGapSeconds = {0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.03,
                                    0.05,  0.075, 0.1,   0.15,  0.25, 0.5,   1.0};
constexpr std::array kRates = {25.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0};

}  // namespace

void Histogram::Observe(double value) {
  const auto bound = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  counts_[static_cast<std::size_t>(bound)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

void Histogram::Write(std::string_view name, std::string_view help, std::string& out) const {
  out += fmt::format("# HELP {} {}\n# TYPE {} histogram\n", name, help, name);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    const std::string bound = i < bounds_.size() ? fmt::format("{}", bounds_[i]) : "+Inf";
    out += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", name, bound, total);
  }
  out += fmt::format("{}_sum {}\n{}_count {}\n", name, sum_.load(std::memory_order_relaxed), name,
                     total);
}

RequestMetrics::RequestMetrics()
    : ttft(kSeconds), itl(kGapSeconds), queue(kSeconds), e2e(kSeconds), prefill_rate(kRates) {}

void RequestMetrics::ObserveDone(const GenerateTimings& timings, double total_ms) {
  queue.Observe(timings.queue_ms / 1000);
  e2e.Observe(total_ms / 1000);
  if (timings.decoded_tokens > 0) ttft.Observe(timings.first_token_ms / 1000);
  const std::int64_t evaluated = timings.prompt_tokens - timings.cached_tokens;
  if (evaluated > 0 && timings.prefill_ms > 0) {
    prefill_rate.Observe(1000 * static_cast<double>(evaluated) / timings.prefill_ms);
  }
}

}  // namespace vivace
