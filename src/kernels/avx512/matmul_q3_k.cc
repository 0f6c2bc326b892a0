#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/matmul_blocks.h"
#include "kernels/avx512/six_bit_pairs.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

class Q3_K : public ScaledHalvesForm<4> {
 public:
  static constexpr std::int64_t kBlocks = 8;
  static constexpr std::int64_t kHeaderBytes = 32;
  static constexpr std::int64_t kBodyBytes = SixBitPairs::kBytes + 8 * 3 * kLine;

  Q3_K(const std::byte* header, const std::byte* body)
      : d_(LoadHalves(header)), body_(body), pairs_(body) {}

  BlockLines Lines(int block) const {
    return ThreeBitLines(body_ + SixBitPairs::kBytes + 3 * kLine * block);
  }
  Scales BlockScales(int block) const {
    return {d_, {Scale(pairs_.First(block)), Scale(pairs_.Second(block))}};
  }

 private:
  static __m512 Scale(__m512i raised) {
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(raised, _mm512_set1_epi32(32)));
  }

  __m512 d_;
  const std::byte* body_;
  SixBitPairs pairs_;
};

}  // namespace

void MatmulQ3_K(const MatmulArgs& args) { MatmulBlocks<Q3_K>(args); }

}  // namespace vivace::VIVACE_ISA
