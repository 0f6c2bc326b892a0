#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/matmul_blocks.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

class IQ4_XS : public OffsetForm<kIq4Offset> {
 public:
  static constexpr std::int64_t kBlocks = 8;
  static constexpr std::int64_t kHeaderBytes = 128;
  static constexpr std::int64_t kBodyBytes = 8 * 4 * kLine;

  IQ4_XS(const std::byte* header, const std::byte* body) : d_(LoadHalves(header)), body_(body) {
    const __m512i low = _mm512_loadu_si512(header + 32);
    Decode(0, LowNibbles(low), Load16Bytes(header + 96));
    Decode(1, HighNibbles(low), Load16Bytes(header + 112));
  }

  BlockLines Lines(int block) const { return BookLines(body_ + 4 * kLine * block, kIq4Book); }
  Scales BlockScales(int block) const {
    const std::byte* scale = scale_ + kLine * (block % 2) + kGroupRows * (block / 2);
    return {_mm512_mul_ps(d_, _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(Load16Bytes(scale))))};
  }

 private:
  // The scales of the even (0) or odd (1) blocks, one in each 16 bytes of `low`; bits 2i and
  // 2i + 1 of `high` belong to number i of them.
  void Decode(int odd, __m512i low, __m128i high) {
    const __m512i bits =
        _mm512_srlv_epi64(_mm512_broadcast_i32x4(high), _mm512_set_epi64(6, 6, 4, 4, 2, 2, 0, 0));
    const __m512i raised = OrAnd(low, Shift<4>(bits), _mm512_set1_epi8(0x30));
    _mm512_store_si512(scale_ + kLine * odd, _mm512_sub_epi8(raised, _mm512_set1_epi8(32)));
  }

  __m512 d_;
  const std::byte* body_;
  alignas(64) std::byte scale_[2 * kLine];  // [even, odd][4 blocks][16 rows]
};

}  // namespace

void MatmulIQ4_XS(const MatmulArgs& args) { MatmulBlocks<IQ4_XS>(args); }

}  // namespace vivace::VIVACE_ISA
