#include "quant/activation.h"

#include <algorithm>
#include <cmath>

namespace vivace {

void QuantizeRowReference(const float* x, std::size_t k, const ActivationRow& out) {
  for (std::size_t block = 0; block < k / 32; ++block) {
    const float* values = x + 32 * block;
    float largest = 0;
    for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(values[i]));
    const bool zero = !(largest >= 1e-30F);
    const float inverse = zero ? 0.0F : 127.0F / largest;
    out.d[block] = zero ? 0.0F : largest / 127.0F;
    for (std::size_t half = 0; half < 2; ++half) {
      std::int32_t sum = 0;
      for (std::size_t i = 16 * half; i < 16 * half + 16; ++i) {
        const float scaled = values[i] * inverse;
        const auto q = static_cast<std::int8_t>(std::isnan(scaled) ? 0 : std::nearbyint(scaled));
        out.q[32 * block + i] = q;
        sum += q;
      }
      out.half_sum[2 * block + half] = sum;
    }
    out.sum[block] = out.half_sum[2 * block] + out.half_sum[2 * block + 1];
  }
}

}  // namespace vivace
