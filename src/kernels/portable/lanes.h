// Sixteen floats that a compiler keeps in vector registers: the width that fixes the
// order of every reduction.
#pragma once

#include <cstdint>

namespace vivace::VIVACE_ISA {
namespace {

constexpr int kLanes = 16;

// a[i] + a[i + 8], then + 4, + 2, + 1.
[[maybe_unused]] float SumLanes(const float* lanes) {
  float tree[kLanes];
  for (int i = 0; i < kLanes; ++i) tree[i] = lanes[i];
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) tree[i] = tree[i] + tree[i + half];
  }
  return tree[0];
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
