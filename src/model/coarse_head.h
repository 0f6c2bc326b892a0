// CoarseHead: a small image of the output matrix that tells which few rows can hold the
// largest logit.
//
// The plane is the matrix rounded to Q4_0, an ordinary matrix for the ordinary kernels.
// Each row has one number, its radius: for every activation row x
//   |logit - coarse logit| <= radius * Reach(x),
// where both are what the kernels compute, all roundings included. docs/output-head.md
// derives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/thread_team.h"
#include "model/matrix.h"

namespace vivace {

struct CoarseHead {
  Matrix plane;                            // [vocab_size, hidden], Q4_0
  const float* radius = nullptr;           // [vocab_size], > 0; infinite where nothing is known
  const float* inverse_weights = nullptr;  // [hidden], 1 / D^2 of the bound, > 0

  explicit operator bool() const { return plane.data != nullptr; }
};

// Whether the plane is so much smaller than a matrix of this type that it is worth having.
// Only types whose values are a scale times integers, and rows short enough that rounding
// errors of second order do not count: the bound relies on both.
bool CoarseHeadPays(QuantType type, std::int64_t k);

// The norm of a row of activations that a radius is multiplied by, rounded up. Infinite
// where it is so large that logits could overflow.
float Reach(const CoarseHead& head, const Activations& row);

// A row-major matrix of GGUF blocks.
struct RowMajor {
  QuantType type;
  std::int64_t rows;
  std::int64_t k;
  const std::byte* data;
};

// Chooses the weights of the bound, `out` [k]. `typical` [k] are the usual sizes of the
// activations, up to a common factor.
void ChooseInverseWeights(const RowMajor& matrix, std::span<const float> typical,
                          std::span<float> out);

// Fills `plane`, the zeroed bytes of a packed Q4_0 matrix of the same shape, and `radius`
// [rows]. Precondition: CoarseHeadPays(matrix.type, matrix.k).
void MakeCoarseHead(const RowMajor& matrix, std::span<const float> inverse_weights,
                    std::byte* plane, float* radius, ThreadTeam& team);

}  // namespace vivace
