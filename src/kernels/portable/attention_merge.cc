// Joins the chunks of attention; see kernel_table.h.
#include "kernels/isa.h"
#include "kernels/portable/exp_lane.h"

namespace vivace::VIVACE_ISA {

void AttentionMerge(float* max, float* sum, float* out, float next_max, float next_sum,
                    const float* next_out, std::int64_t dim) {
  const float largest = *max < next_max ? next_max : *max;
  const float a = ExpLane(*max - largest);
  const float b = ExpLane(next_max - largest);
  *max = largest;
  *sum = __builtin_fmaf(*sum, a, next_sum * b);
  for (std::int64_t d = 0; d < dim; ++d) out[d] = __builtin_fmaf(out[d], a, next_out[d] * b);
}

}  // namespace vivace::VIVACE_ISA
