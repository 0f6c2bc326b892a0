// The int8 dot step as a plain loop: what compilers make of it.
#include "kernels/isa.h"
#include "kernels/portable/lanes.h"

namespace vivace::VIVACE_ISA {

std::int64_t DotPeak(const std::uint8_t* a, const std::int8_t* b, std::int64_t rounds,
                     std::int32_t* out) {
  constexpr std::int64_t kSteps = 16;  // of a round
  std::uint32_t sums[kLanes] = {};
  for (std::int64_t step = 0; step < kSteps * rounds; ++step) {
    // The operands may have changed: without this the loop would be one multiplication.
    asm volatile("" ::: "memory");
    for (int lane = 0; lane < kLanes; ++lane) {
      std::int32_t dot = 0;
      for (int i = 0; i < 4; ++i) dot += a[i] * b[4 * lane + i];
      sums[lane] += static_cast<std::uint32_t>(dot);
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = static_cast<std::int32_t>(sums[lane]);
  return kSteps * rounds * 4 * kLanes;
}

}  // namespace vivace::VIVACE_ISA
