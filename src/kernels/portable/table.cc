#include "kernels/isa.h"

#define VIVACE_STRINGIFY_(x) #x
#define VIVACE_STRINGIFY(x) VIVACE_STRINGIFY_(x)

namespace vivace::VIVACE_ISA {

extern constexpr KernelTable kKernels = {
    .name = VIVACE_STRINGIFY(VIVACE_ISA),
    .matmul_f32 = MatmulF32,
    .matmul_f16 = MatmulF16,
    .matmul_q4_0 = MatmulQ4_0,
    .matmul_q4_1 = MatmulQ4_1,
    .matmul_q4_k = MatmulQ4_K,
    .matmul_q5_0 = MatmulQ5_0,
    .matmul_q6_k = MatmulQ6_K,
    .matmul_q8_0 = MatmulQ8_0,
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
};

}  // namespace vivace::VIVACE_ISA
