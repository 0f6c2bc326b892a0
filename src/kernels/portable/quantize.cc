// Activations to int8; the definition is QuantizeRowReference of quant/activation.h.
#include "kernels/isa.h"
#include "kernels/packed_layout.h"
#include "kernels/portable/lanes.h"

namespace vivace::VIVACE_ISA {
namespace {

// max is exact in any order; a NaN is skipped, as by the definition.
float LargestMagnitude(const float* x) {
  float lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const float a = __builtin_fabsf(x[i]);
    const float b = __builtin_fabsf(x[i + kLanes]);
    lanes[i] = 0.0F < a ? a : 0.0F;
    lanes[i] = lanes[i] < b ? b : lanes[i];
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      lanes[i] = lanes[i] < lanes[i + half] ? lanes[i + half] : lanes[i];
    }
  }
  return lanes[0];
}

}  // namespace

void Quantize(const float* x, std::int64_t k, std::int8_t* q, float* d, std::int32_t* sum,
              std::int32_t* half_sum) {
  for (std::int64_t block = 0; block < k / kBlock; ++block) {
    const float* values = x + kBlock * block;
    const float largest = LargestMagnitude(values);
    const bool zero = !(largest >= 1e-30F);
    const float inverse = zero ? 0.0F : 127.0F / largest;
    d[block] = zero ? 0.0F : largest / 127.0F;
    for (int half = 0; half < 2; ++half) {
      std::int32_t total = 0;
      for (int i = kLanes * half; i < kLanes * (half + 1); ++i) {
        // A NaN, also of infinity times zero, counts as 0.
        const float scaled = values[i] * inverse;
        const float known = scaled == scaled ? scaled : 0.0F;
        const auto code = static_cast<std::int32_t>(__builtin_rintf(known));
        q[kBlock * block + i] = static_cast<std::int8_t>(code);
        total += code;
      }
      half_sum[2 * block + half] = total;
    }
    sum[block] = half_sum[2 * block] + half_sum[2 * block + 1];
  }
}

}  // namespace vivace::VIVACE_ISA
