// The exponential over arrays, and the activation function made of it.
#include "kernels/isa.h"
#include "kernels/portable/exp_lane.h"

namespace vivace::VIVACE_ISA {

void Exp(const float* x, float* out, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = ExpLane(x[i]);
}

void SiluMul(const float* gate, const float* up, float* out, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = gate[i] / (1.0F + ExpLane(-gate[i])) * up[i];
}

}  // namespace vivace::VIVACE_ISA
