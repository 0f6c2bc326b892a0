// The functions every tier defines, in its own namespace, such as vivace::avx2. CMake names
// the namespace with -DVIVACE_ISA=... and picks each function's source; sources that
// several tiers share are compiled once for each. Contracts are in kernel_table.h.
#pragma once

#include "kernels/kernel_table.h"

namespace vivace::VIVACE_ISA {

void MatmulF32(const MatmulArgs& args);
void MatmulF16(const MatmulArgs& args);
void MatmulBF16(const MatmulArgs& args);
void MatmulQ4_0(const MatmulArgs& args);
void MatmulQ4_1(const MatmulArgs& args);
void MatmulQ5_0(const MatmulArgs& args);
void MatmulQ5_1(const MatmulArgs& args);
void MatmulQ8_0(const MatmulArgs& args);
void MatmulQ2_K(const MatmulArgs& args);
void MatmulQ3_K(const MatmulArgs& args);
void MatmulQ4_K(const MatmulArgs& args);
void MatmulQ5_K(const MatmulArgs& args);
void MatmulQ6_K(const MatmulArgs& args);
void MatmulIQ4_NL(const MatmulArgs& args);
void MatmulIQ4_XS(const MatmulArgs& args);
void MatmulMXFP4(const MatmulArgs& args);
void Quantize(const float* x, std::int64_t k, std::int8_t* q, float* d, std::int32_t* sum,
              std::int32_t* half_sum);
void RmsNorm(const float* x, const float* gain, float* out, std::int64_t size, float epsilon);
void RopeHalves(float* x, const float* cos, const float* sin, std::int64_t dim);
void RopePairs(float* x, const float* cos, const float* sin, std::int64_t dim);
void SiluMul(const float* gate, const float* up, float* out, std::int64_t size);
void Add(const float* x, float* y, std::int64_t size);
void ToHalf(const float* x, std::uint16_t* out, std::int64_t size);
void AttentionChunk(const AttentionChunkArgs& args);
void AttentionMerge(float* max, float* sum, float* out, float next_max, float next_sum,
                    const float* next_out, std::int64_t dim);
void Exp(const float* x, float* out, std::int64_t size);
std::int64_t DotPeak(const std::uint8_t* a, const std::int8_t* b, std::int64_t rounds,
                     std::int32_t* out);

}  // namespace vivace::VIVACE_ISA
