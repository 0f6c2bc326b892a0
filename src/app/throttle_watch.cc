#include "app/throttle_watch.h"

#include <fmt/format.h>

namespace vivace {
namespace {

// A single stop may be another program's of the same container.
constexpr std::int64_t kLeastPeriods = 3;

}  // namespace

ThrottleWatch::ThrottleWatch(int threads) : threads_(threads), before_(ReadThrottling()) {}

ThrottleWatch::~ThrottleWatch() {
  const Throttling now = ReadThrottling();
  const std::int64_t stopped = now.throttled_periods - before_.throttled_periods;
  if (stopped < kLeastPeriods) return;
  fmt::print(stderr,
             "vivace: the quota of {:.3g} cores stopped this container in {} of {} periods, {:.0f} "
             "ms in all; threads: {}, granted: {}\n",
             QuotaCores(), stopped, now.periods - before_.periods,
             static_cast<double>(now.throttled_us - before_.throttled_us) / 1000, threads_,
             GrantedCores());
}

}  // namespace vivace
