// The types whose blocks of 32 have nothing but their scales: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0,
// IQ4_NL, MXFP4.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/matmul_blocks.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

// k is padded to 64, so blocks come in pairs.
template <int kLinesPerBlock, int kHeaderPerBlock>
class BlockPair {
 public:
  static constexpr std::int64_t kBlocks = 2;
  static constexpr std::int64_t kHeaderBytes = 2 * kHeaderPerBlock;
  static constexpr std::int64_t kBodyBytes = 2 * kLine * kLinesPerBlock;

  BlockPair(const std::byte* header, const std::byte* body) : header_(header), body_(body) {}

 protected:
  const std::byte* header(int block) const { return header_ + kHeaderPerBlock * block; }
  const std::byte* body(int block) const { return body_ + kLine * kLinesPerBlock * block; }
  __m512 Scale(int block, int index) const { return LoadHalves(header(block) + 32 * index); }

 private:
  const std::byte* header_;
  const std::byte* body_;
};

struct Q4_0 : OffsetForm<8>, BlockPair<4, 32> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return FourBitLines(body(block)); }
  Scales BlockScales(int block) const { return {Scale(block, 0)}; }
};

struct Q4_1 : MinimumForm, BlockPair<4, 64> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return FourBitLines(body(block)); }
  Scales BlockScales(int block) const { return {Scale(block, 0), Scale(block, 1)}; }
};

struct Q5_0 : OffsetForm<16>, BlockPair<5, 32> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return FiveBitLines(body(block)); }
  Scales BlockScales(int block) const { return {Scale(block, 0)}; }
};

struct Q5_1 : MinimumForm, BlockPair<5, 64> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return FiveBitLines(body(block)); }
  Scales BlockScales(int block) const { return {Scale(block, 0), Scale(block, 1)}; }
};

struct Q8_0 : OffsetForm<128>, BlockPair<8, 32> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return EightBitLines(body(block)); }
  Scales BlockScales(int block) const { return {Scale(block, 0)}; }
};

struct IQ4_NL : OffsetForm<kIq4Offset>, BlockPair<4, 32> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return BookLines(body(block), kIq4Book); }
  Scales BlockScales(int block) const { return {Scale(block, 0)}; }
};

struct MXFP4 : OffsetForm<kMxfp4Offset>, BlockPair<4, 16> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return BookLines(body(block), kMxfp4Book); }
  Scales BlockScales(int block) const {
    const __m512i exponent = _mm512_cvtepu8_epi32(Load16Bytes(header(block)));
    const __m512i power = _mm512_sub_epi32(exponent, _mm512_set1_epi32(128));
    return {_mm512_scalef_ps(_mm512_set1_ps(1), _mm512_cvtepi32_ps(power))};
  }
};

}  // namespace

void MatmulIQ4_NL(const MatmulArgs& args) { MatmulBlocks<IQ4_NL>(args); }
void MatmulMXFP4(const MatmulArgs& args) { MatmulBlocks<MXFP4>(args); }
void MatmulQ4_0(const MatmulArgs& args) { MatmulBlocks<Q4_0>(args); }
void MatmulQ4_1(const MatmulArgs& args) { MatmulBlocks<Q4_1>(args); }
void MatmulQ5_0(const MatmulArgs& args) { MatmulBlocks<Q5_0>(args); }
void MatmulQ5_1(const MatmulArgs& args) { MatmulBlocks<Q5_1>(args); }
void MatmulQ8_0(const MatmulArgs& args) { MatmulBlocks<Q8_0>(args); }

}  // namespace vivace::VIVACE_ISA
