#include "kernels/isa.h"

#define VIVACE_STRINGIFY_(x) #x
#define VIVACE_STRINGIFY(x) VIVACE_STRINGIFY_(x)

namespace vivace::VIVACE_ISA {
namespace {

consteval KernelTable MakeTable() {
  KernelTable table = {
      .name = VIVACE_STRINGIFY(VIVACE_ISA),
      .matmul = {},
      .quantize = Quantize,
      .rms_norm = RmsNorm,
      .rope_halves = RopeHalves,
      .rope_pairs = RopePairs,
      .silu_mul = SiluMul,
      .add = Add,
      .to_half = ToHalf,
      .attention_chunk = AttentionChunk,
      .attention_merge = AttentionMerge,
      .exp = Exp,
      .dot_peak = DotPeak,
  };
  const auto set = [&table](QuantType type, MatmulKernel kernel) {
    table.matmul[static_cast<std::int64_t>(type)] = kernel;
  };
  set(QuantType::kF32, MatmulF32);
  set(QuantType::kF16, MatmulF16);
  set(QuantType::kBF16, MatmulBF16);
  set(QuantType::kQ4_0, MatmulQ4_0);
  set(QuantType::kQ4_1, MatmulQ4_1);
  set(QuantType::kQ5_0, MatmulQ5_0);
  set(QuantType::kQ5_1, MatmulQ5_1);
  set(QuantType::kQ8_0, MatmulQ8_0);
  set(QuantType::kQ2_K, MatmulQ2_K);
  set(QuantType::kQ3_K, MatmulQ3_K);
  set(QuantType::kQ4_K, MatmulQ4_K);
  set(QuantType::kQ5_K, MatmulQ5_K);
  set(QuantType::kQ6_K, MatmulQ6_K);
  set(QuantType::kIQ4_NL, MatmulIQ4_NL);
  set(QuantType::kIQ4_XS, MatmulIQ4_XS);
  set(QuantType::kMXFP4, MatmulMXFP4);
  return table;
}

}  // namespace

extern constexpr KernelTable kKernels = MakeTable();

}  // namespace vivace::VIVACE_ISA
