// Q4_K and Q5_K: super-blocks with six-bit scales and minima.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/matmul_blocks.h"
#include "kernels/avx512/six_bit_pairs.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

template <int kBits>
class ScaledMinimum : public MinimumForm {
 public:
  static constexpr std::int64_t kBlocks = 8;
  static constexpr std::int64_t kHeaderBytes = 64;
  static constexpr std::int64_t kBodyBytes = SixBitPairs::kBytes + 8 * kBits * kLine;

  ScaledMinimum(const std::byte* header, const std::byte* body)
      : d_(LoadHalves(header)), m_(LoadNegatedHalves(header + 32)), body_(body), pairs_(body) {}

  BlockLines Lines(int block) const {
    const std::byte* at = body_ + SixBitPairs::kBytes + kBits * kLine * block;
    if constexpr (kBits == 5) return FiveBitLines(at);
    return FourBitLines(at);
  }
  Scales BlockScales(int block) const {
    return {_mm512_mul_ps(d_, _mm512_cvtepi32_ps(pairs_.First(block))),
            _mm512_mul_ps(m_, _mm512_cvtepi32_ps(pairs_.Second(block)))};
  }

 private:
  __m512 d_;
  __m512 m_;
  const std::byte* body_;
  SixBitPairs pairs_;
};

}  // namespace

void MatmulQ4_K(const MatmulArgs& args) { MatmulBlocks<ScaledMinimum<4>>(args); }
void MatmulQ5_K(const MatmulArgs& args) { MatmulBlocks<ScaledMinimum<5>>(args); }

}  // namespace vivace::VIVACE_ISA
