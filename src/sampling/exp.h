// exp and log with a fixed sequence of operations, so that a draw is the same on every
// machine whatever its math library rounds like. Loops over FixedExp are vectorized: no
// call, no branch.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace vivace {

// e^x for x <= 0, relative error below 2^-22; 0 below -87 and for NaN.
inline float FixedExp(float x) {
  // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
  constexpr float kRound = 12582912.0F;
  const float shifted = x * 1.44269504088896341F + kRound;
  const float n = shifted - kRound;
  // ln 2 in two parts (Cody and Waite): n times the first is exact.
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  // Minimax polynomial of Cephes' expf.
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float y = p * (r * r) + r + 1.0F;
  const std::uint32_t bits =
      std::bit_cast<std::uint32_t>(y) + (std::bit_cast<std::uint32_t>(shifted) << 23);
  // By a mask: a branch would keep loops from being vectorized.
  const std::uint32_t mask = x > -87.0F ? ~0U : 0U;
  return std::bit_cast<float>(bits & mask);
}

// Natural logarithm of a positive normal number; error below 1e-14 relative to 1.
double FixedLog(double x);

// What softmax adds up: weights relative to the best logit. NaN and -inf weigh nothing.
//
// weights[i] = FixedExp((logits[i] - best) * scale) for i < count <= kWeightBlock. Returns
// their sum, added up in eight lanes.
inline constexpr std::size_t kWeightBlock = 64;
double WeighBlock(const float* logits, std::size_t count, float best, float scale, float* weights);

// The sum of exp(logit - best) in order of blocks. `best` is finite.
double SumOfWeights(std::span<const float> logits, float best);

}  // namespace vivace
