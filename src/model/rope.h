// Rope: rotary position embedding's angles (Su et al. 2021, eq. 15).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vivace {

class Rope {
 public:
  Rope() = default;
  // Frequencies base^(-2i/dim), i < dim / 2, each divided by `factors`[i] where the
  // model has them (Llama 3's rope_freqs; empty otherwise).
  Rope(double base, std::int64_t dim, std::span<const float> factors);

  // cos and sin of position * frequency, [dim / 2] each. Angles are formed in double:
  // a float angle would be off by 2^-12 already at position 4096.
  void Rotation(std::int64_t position, float* cos, float* sin) const;

 private:
  std::vector<double> frequencies_;  // [dim / 2]
};

}  // namespace vivace
