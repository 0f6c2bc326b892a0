// The types whose blocks of 32 have nothing but their scales: Q4_0, Q4_1, Q5_0, Q8_0.
#include <cstddef>
#include <cstdint>

#include "kernels/avx512/matmul_blocks.h"
#include "kernels/isa.h"

namespace vivace::avx512 {
namespace {

// k is padded to 64, so blocks come in pairs.
template <int kLinesPerBlock, int kScalesPerBlock>
class BlockPair {
 public:
  static constexpr std::int64_t kBlocks = 2;
  static constexpr std::int64_t kHeaderBytes = 2 * 32 * kScalesPerBlock;
  static constexpr std::int64_t kBodyBytes = 2 * kLine * kLinesPerBlock;

  BlockPair(const std::byte* header, const std::byte* body) : header_(header), body_(body) {}

 protected:
  const std::byte* body(int block) const { return body_ + kLine * kLinesPerBlock * block; }
  __m512 Scale(int block, int index) const {
    return LoadHalves(header_ + 32 * (kScalesPerBlock * block + index));
  }

 private:
  const std::byte* header_;
  const std::byte* body_;
};

struct Q4_0 : OffsetForm<8>, BlockPair<4, 1> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return FourBitLines(body(block)); }
  Scales BlockScales(int block) const { return {Scale(block, 0)}; }
};

struct Q4_1 : MinimumForm, BlockPair<4, 2> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return FourBitLines(body(block)); }
  Scales BlockScales(int block) const { return {Scale(block, 0), Scale(block, 1)}; }
};

struct Q5_0 : OffsetForm<16>, BlockPair<5, 1> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return FiveBitLines(body(block)); }
  Scales BlockScales(int block) const { return {Scale(block, 0)}; }
};

struct Q8_0 : OffsetForm<128>, BlockPair<8, 1> {
  using BlockPair::BlockPair;
  BlockLines Lines(int block) const { return EightBitLines(body(block)); }
  Scales BlockScales(int block) const { return {Scale(block, 0)}; }
};

}  // namespace

void MatmulQ4_0(const MatmulArgs& args) { MatmulBlocks<Q4_0>(args); }
void MatmulQ4_1(const MatmulArgs& args) { MatmulBlocks<Q4_1>(args); }
void MatmulQ5_0(const MatmulArgs& args) { MatmulBlocks<Q5_0>(args); }
void MatmulQ8_0(const MatmulArgs& args) { MatmulBlocks<Q8_0>(args); }

}  // namespace vivace::avx512
