// The types whose blocks of 32 have nothing but their scales: Q4_0, Q4_1, Q5_0, Q8_0.
#include <cstddef>
#include <cstdint>

#include "kernels/avx2/matmul_blocks.h"
#include "kernels/isa.h"

namespace vivace::avx2 {
namespace {

// k is padded to 64, so blocks come in pairs.
template <class CodesType, int kScalesPerBlock>
class BlockPair {
 public:
  using Codes = CodesType;
  static constexpr std::int64_t kBlocks = 2;
  static constexpr std::int64_t kHeaderBytes = 2 * 32 * kScalesPerBlock;
  static constexpr std::int64_t kBodyBytes = 2 * kLine * Codes::kLines;

  BlockPair(const std::byte* header, const std::byte* body) : header_(header), body_(body) {}

  const std::byte* Lines(int block) const { return body_ + kLine * Codes::kLines * block; }

 protected:
  __m256 Scale(int block, int index, int half) const {
    return LoadHalves(header_ + 32 * (kScalesPerBlock * block + index) + 16 * half);
  }

 private:
  const std::byte* header_;
  const std::byte* body_;
};

struct Q4_0 : OffsetForm<3, 8>, BlockPair<FourBit, 1> {
  using BlockPair::BlockPair;
  Scales BlockScales(int block, int half) const { return {Scale(block, 0, half)}; }
};

struct Q4_1 : MinimumForm, BlockPair<FourBit, 2> {
  using BlockPair::BlockPair;
  Scales BlockScales(int block, int half) const {
    return {Scale(block, 0, half), Scale(block, 1, half)};
  }
};

struct Q5_0 : OffsetForm<4, 4>, BlockPair<FiveBit, 1> {
  using BlockPair::BlockPair;
  Scales BlockScales(int block, int half) const { return {Scale(block, 0, half)}; }
};

struct Q8_0 : SignedForm, BlockPair<EightBit, 1> {
  using BlockPair::BlockPair;
  Scales BlockScales(int block, int half) const { return {Scale(block, 0, half)}; }
};

}  // namespace

void MatmulQ4_0(const MatmulArgs& args) { MatmulBlocks<Q4_0>(args); }
void MatmulQ4_1(const MatmulArgs& args) { MatmulBlocks<Q4_1>(args); }
void MatmulQ5_0(const MatmulArgs& args) { MatmulBlocks<Q5_0>(args); }
void MatmulQ8_0(const MatmulArgs& args) { MatmulBlocks<Q8_0>(args); }

}  // namespace vivace::avx2
