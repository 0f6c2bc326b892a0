// Q2_K. A code has four values and a register's 16-byte part four rows: one byte shuffle
// looks up all products scale * code, so the rest of the loop knows nothing of scales.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/matmul_blocks.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

class Q2_K : public HalfMinimaForm {
 public:
  static constexpr std::int64_t kBlocks = 8;
  static constexpr std::int64_t kHeaderBytes = 64;
  static constexpr std::int64_t kScaleBytes = 256;
  static constexpr std::int64_t kBodyBytes = kScaleBytes + 8 * 2 * kLine;

  Q2_K(const std::byte* header, const std::byte* body)
      : d_(LoadHalves(header)), m_(LoadNegatedHalves(header + 32)), body_(body) {}

  BlockLines Lines(int block) const {
    // Place 4 * (row % 4) + code.
    const __m512i row =
        _mm512_broadcast_i32x4(_mm_set_epi32(0x0C0C0C0C, 0x08080808, 0x04040404, 0x00000000));
    BlockLines lines = TwoBitLines(body_ + kScaleBytes + 2 * kLine * block, row);
    const __m512i scales = And(Pairs(block), _mm512_set1_epi16(15));
    for (int half = 0; half < 2; ++half) {
      const __m512i products = Products(scales, half);
      for (int j = 4 * half; j < 4 * half + 4; ++j) {
        lines.quad[j] = _mm512_shuffle_epi8(products, lines.quad[j]);
      }
    }
    return lines;
  }
  Scales BlockScales(int block) const { return {d_, m_, _mm512_srli_epi16(Pairs(block), 4)}; }

 private:
  // The bytes of scale and minimum of both halves of each row, in 16 bits.
  __m512i Pairs(int block) const {
    const std::byte* at = body_ + 2 * kGroupRows * block;
    return _mm512_cvtepu8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(at)));
  }
  // Bytes 0, scale, 2 * scale, 3 * scale of each row.
  static __m512i Products(__m512i scales, int half) {
    const __m128i twice = half == 0 ? _mm_set_epi32(0x0D0C0D0C, 0x09080908, 0x05040504, 0x01000100)
                                    : _mm_set_epi32(0x0F0E0F0E, 0x0B0A0B0A, 0x07060706, 0x03020302);
    const __m512i both = _mm512_shuffle_epi8(scales, _mm512_broadcast_i32x4(twice));
    return _mm512_mullo_epi16(both, _mm512_set1_epi32(0x03020100));
  }

  __m512 d_;
  __m512 m_;
  const std::byte* body_;
};

}  // namespace

void MatmulQ2_K(const MatmulArgs& args) { MatmulBlocks<Q2_K>(args); }

}  // namespace vivace::VIVACE_ISA
