#include "kernels/isa.h"
#include "kernels/portable/half_lane.h"

namespace vivace::VIVACE_ISA {

void ToHalf(const float* x, std::uint16_t* out, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = HalfOf(x[i]);
}

}  // namespace vivace::VIVACE_ISA
