#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/matmul_blocks.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

class Q6_K : public ScaledHalvesForm<32> {
 public:
  static constexpr std::int64_t kBlocks = 8;
  static constexpr std::int64_t kHeaderBytes = 32;
  static constexpr std::int64_t kScaleBytes = 256;
  static constexpr std::int64_t kBodyBytes = kScaleBytes + 8 * 6 * kLine;

  Q6_K(const std::byte* header, const std::byte* body) : d_(LoadHalves(header)), body_(body) {}

  BlockLines Lines(int block) const { return SixBitLines(body_ + kScaleBytes + 6 * kLine * block); }
  Scales BlockScales(int block) const {
    const std::byte* at = body_ + 32 * block;
    return {d_, {IntegerScale(at), IntegerScale(at + 16)}};
  }

 private:
  static __m512 IntegerScale(const std::byte* at) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(Load16Bytes(at)));
  }

  __m512 d_;
  const std::byte* body_;
};

}  // namespace

void MatmulQ6_K(const MatmulArgs& args) { MatmulBlocks<Q6_K>(args); }

}  // namespace vivace::VIVACE_ISA
