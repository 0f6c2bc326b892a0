#include <math.h>  // <cmath> would add weak inline overloads

#include "kernels/isa.h"
#include "kernels/portable/lanes.h"

namespace vivace::VIVACE_ISA {

void RmsNorm(const float* x, const float* gain, float* out, std::int64_t size, float epsilon) {
  float squares[kLanes] = {};
  for (std::int64_t i = 0; i < size; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      squares[lane] = __builtin_fmaf(x[i + lane], x[i + lane], squares[lane]);
    }
  }
  const float mean = SumLanes(squares) / static_cast<float>(size);
  const float scale = 1.0F / __builtin_sqrtf(mean + epsilon);
  for (std::int64_t i = 0; i < size; ++i) out[i] = x[i] * scale * gain[i];
}

}  // namespace vivace::VIVACE_ISA
