// The softmax of attention: scores to weights, sixteen positions at a time.
#pragma once

#include <cstdint>

#include "kernels/portable/exp_lane.h"
#include "kernels/portable/lanes.h"

namespace vivace::VIVACE_ISA {
namespace {

constexpr std::int64_t kChunk = 128;  // positions

// Turns the first `visible` (>= 1) of kChunk scores into weights; returns their sum and, in
// *max, the largest score. The rest of the last 16 become 0.
[[maybe_unused]] float Soften(float* scores, std::int64_t visible, float* max) {
  const std::int64_t padded = (visible + kLanes - 1) / kLanes * kLanes;
  for (std::int64_t p = visible; p < padded; ++p) scores[p] = scores[0];
  float lanes[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = scores[lane];
  for (std::int64_t p = kLanes; p < padded; p += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = lanes[lane] < scores[p + lane] ? scores[p + lane] : lanes[lane];
    }
  }
  float largest = lanes[0];
  for (int lane = 1; lane < kLanes; ++lane) largest = largest < lanes[lane] ? lanes[lane] : largest;
  for (std::int64_t p = 0; p < padded; ++p) scores[p] = ExpLane(scores[p] - largest);
  for (std::int64_t p = visible; p < padded; ++p) scores[p] = 0;
  for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = 0;
  for (std::int64_t p = 0; p < padded; p += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += scores[p + lane];
  }
  *max = largest;
  return SumLanes(lanes);
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
