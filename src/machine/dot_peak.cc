#include "machine/dot_peak.h"

#include <algorithm>
#include <atomic>

#include "base/clock.h"

namespace vivace {

double MeasureDotPeak(const KernelTable& kernels, ThreadTeam& team, int threads) {
  constexpr double kMs = 8;
  constexpr std::int64_t kRounds = 1000;  // 10 us of a fast tier, 1 ms of the slowest
  std::atomic<std::int64_t> products = 0;
  const double start = NowMs();
  team.Run([&](const TeamMember& member) {
    if (member.index() >= threads) return;
    constexpr std::uint8_t kA[4] = {3, 1, 4, 1};
    std::int8_t b[64];
    std::int32_t out[16];
    std::fill(std::begin(b), std::end(b), std::int8_t{5});
    std::int64_t made = 0;
    while (NowMs() - start < kMs) made += kernels.dot_peak(kA, b, kRounds, out);
    products += made;
  });
  return static_cast<double>(products) / (NowMs() - start) * 1000;
}

}  // namespace vivace
