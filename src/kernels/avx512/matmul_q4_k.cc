#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/matmul_blocks.h"
#include "kernels/isa.h"

namespace vivace::avx512 {
namespace {

class Q4_K : public ScaledMinimumForm {
 public:
  static constexpr std::int64_t kBlocks = 8;
  static constexpr std::int64_t kHeaderBytes = 64;
  static constexpr std::int64_t kScaleBytes = 192;
  static constexpr std::int64_t kBodyBytes = kScaleBytes + 8 * 4 * kLine;

  Q4_K(const std::byte* header, const std::byte* body)
      : d_(LoadHalves(header)), d_min_(LoadHalves(header + 32)), body_(body) {
    const __m512i pairs = LoadLine(body + 2 * kLine);
    DecodeScales(0, LoadLine(body), _mm512_shuffle_i64x2(pairs, pairs, 0x50));
    DecodeScales(1, LoadLine(body + kLine), _mm512_shuffle_i64x2(pairs, pairs, 0xFA));
  }

  BlockLines Lines(int block) const {
    return FourBitLines(body_ + kScaleBytes + 4 * kLine * block);
  }
  Scales BlockScales(int block) const {
    return {d_, d_min_, Widen(scale_ + 16 * block), Widen(minimum_ + 16 * block)};
  }

 private:
  // Scales and minima of blocks 4 * half .. + 3: `low` holds their low four bits, `pairs`
  // the pair of every block. Even blocks have their high bits in its low nibbles.
  void DecodeScales(int half, __m512i low, __m512i pairs) {
    const __m512i high = _mm512_srlv_epi64(pairs, _mm512_set_epi64(4, 4, 0, 0, 4, 4, 0, 0));
    const __m512i top = _mm512_set1_epi8(0x30);
    _mm512_store_si512(scale_ + 64 * half, OrAnd(LowNibbles(low), Shift<4>(high), top));
    _mm512_store_si512(minimum_ + 64 * half, OrAnd(HighNibbles(low), Shift<2>(high), top));
  }
  static __m512 Widen(const std::byte* bytes) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(Load16Bytes(bytes)));
  }

  __m512 d_;
  __m512 d_min_;
  const std::byte* body_;
  alignas(64) std::byte scale_[128];  // [8 blocks][16 rows]
  alignas(64) std::byte minimum_[128];
};

}  // namespace

void MatmulQ4_K(const MatmulArgs& args) { MatmulBlocks<Q4_K>(args); }

}  // namespace vivace::avx512
