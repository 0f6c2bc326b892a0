#include "model/coarse_head.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"
#include "kernels/pack.h"
#include "quant/decode.h"
#include "quant/encode.h"

namespace vivace {
namespace {

constexpr QuantType kPlaneType = QuantType::kQ4_0;
constexpr float kUnknown = std::numeric_limits<float>::infinity();

// Norms are kept between these: the product of two is far above what float32 loses below
// its normal range, and no sum of products overflows.
constexpr double kLeastNorm = 0x1p-40;
constexpr double kGreatestNorm = 0x1p60;

// Covers the roundings of the norm itself, of its conversion to float and of the two float
// operations that the bound is used in.
constexpr double kRoundUp = 1 + 1e-6;

// (1 + u)^n - 1 < (n + 1) u holds for n blocks up to 5792, u = 2^-24.
constexpr std::int64_t kLongestRow = 5000 * kBlock;

// Rows that ChooseInverseWeights looks at.
constexpr std::int64_t kSampleRows = 1024;

float UpperNorm(double norm) {
  if (!(norm <= kGreatestNorm)) return kUnknown;
  return static_cast<float>(std::max(norm, kLeastNorm) * kRoundUp);
}

// One row of the matrix and its image.
class RowPair {
 public:
  explicit RowPair(const RowMajor& matrix)
      : matrix_(matrix),
        row_bytes_(*RowBytes(matrix.type, k())),
        exact_(k()),
        coarse_(k()),
        blocks_(*RowBytes(kPlaneType, k())) {}

  void Load(std::int64_t row) {
    DecodeRow(matrix_.type, matrix_.data + static_cast<std::size_t>(row) * row_bytes_, k(),
              exact_.data());
    EncodeRow(kPlaneType, exact_.data(), k(), blocks_.data());
    DecodeRow(kPlaneType, blocks_.data(), k(), coarse_.data());
  }
  std::size_t k() const { return static_cast<std::size_t>(matrix_.k); }
  double exact(std::size_t i) const { return static_cast<double>(exact_[i]); }
  double coarse(std::size_t i) const { return static_cast<double>(coarse_[i]); }
  // The image as Q4_0 blocks.
  const std::vector<std::byte>& blocks() const { return blocks_; }

 private:
  const RowMajor& matrix_;
  std::size_t row_bytes_;
  std::vector<float> exact_;
  std::vector<float> coarse_;
  std::vector<std::byte> blocks_;
};

// ||D (w - c)||, and ||D w|| + ||D c|| times the relative error of a chain of `k` / 32
// blocks, whose terms add up to at most that times ||x / D||.
float Radius(const RowPair& row, std::span<const double> weights) {
  double rest = 0;
  double exact = 0;
  double coarse = 0;
  for (std::size_t i = 0; i < row.k(); ++i) {
    const double difference = row.exact(i) - row.coarse(i);
    rest += weights[i] * (difference * difference);
    exact += weights[i] * (row.exact(i) * row.exact(i));
    coarse += weights[i] * (row.coarse(i) * row.coarse(i));
  }
  // A term is rounded in the product of its scales and in its own fma and all later ones,
  // of which the padding to 64 may add one; one more for what is of second order.
  const double roundings = static_cast<double>(row.k() / kBlock + 3);
  const double magnitude = std::sqrt(exact) + std::sqrt(coarse);
  if (!(magnitude <= kGreatestNorm)) return kUnknown;
  return UpperNorm(std::sqrt(rest) + roundings * 0x1p-24 * magnitude);
}

double Clamped(double value, double largest) {
  return std::isfinite(value) ? std::clamp(value / largest, 1e-6, 1.0) : 1.0;
}

}  // namespace

bool CoarseHeadPays(QuantType type, std::int64_t k) {
  return (type == QuantType::kQ8_0 || type == QuantType::kQ6_K) && k <= kLongestRow;
}

float Reach(const CoarseHead& head, const Activations& row) {
  double sum = 0;
  for (std::int64_t block = 0; block < head.plane.k / kBlock; ++block) {
    double squares = 0;
    for (std::int64_t i = kBlock * block; i < kBlock * (block + 1); ++i) {
      const double q = row.q[i];
      if (q != 0) squares += q * q * static_cast<double>(head.inverse_weights[i]);
    }
    const auto d = static_cast<double>(row.d[block]);
    if (squares != 0 || !std::isfinite(d)) sum += squares * (d * d);
  }
  return UpperNorm(std::sqrt(sum));
}

void ChooseInverseWeights(const RowMajor& matrix, std::span<const float> typical,
                          std::span<float> out) {
  RowPair row(matrix);
  std::vector<double> rest(row.k());
  const std::int64_t step = std::max<std::int64_t>(matrix.rows / kSampleRows, 1);
  for (std::int64_t index = 0; index < matrix.rows; index += step) {
    row.Load(index);
    for (std::size_t i = 0; i < row.k(); ++i) {
      const double difference = row.exact(i) - row.coarse(i);
      if (std::isfinite(difference)) rest[i] += difference * difference;
    }
  }
  double largest_rest = 0;
  double largest_typical = 0;
  for (std::size_t i = 0; i < row.k(); ++i) {
    rest[i] = std::sqrt(rest[i]);
    largest_rest = std::max(largest_rest, rest[i]);
    largest_typical = std::max(largest_typical, std::fabs(static_cast<double>(typical[i])));
  }
  // ||D r|| ||x / D|| is smallest, for the usual x and r, with D^2 = |x| / |r|.
  for (std::size_t i = 0; i < row.k(); ++i) {
    const double x = Clamped(std::fabs(static_cast<double>(typical[i])), largest_typical);
    out[i] = static_cast<float>(Clamped(rest[i], largest_rest) / x);
  }
}

void MakeCoarseHead(const RowMajor& matrix, std::span<const float> inverse_weights,
                    std::byte* plane, float* radius, ThreadTeam& team) {
  VIVACE_CHECK(CoarseHeadPays(matrix.type, matrix.k), "no coarse head for this matrix");
  const auto shape = PackedShapeOf(kPlaneType, matrix.rows, matrix.k);
  std::vector<double> weights(inverse_weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = 1 / static_cast<double>(inverse_weights[i]);
  }
  team.Run([&](TeamMember& member) {
    RowPair row(matrix);
    const std::size_t row_bytes = row.blocks().size();
    std::vector<std::byte> group_rows(row_bytes * kGroupRows);
    member.ForEachChunk(shape->groups, 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t group = begin; group < end; ++group) {
        const std::int64_t first = group * kGroupRows;
        const std::int64_t lanes = std::min(kGroupRows, matrix.rows - first);
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          row.Load(first + lane);
          radius[first + lane] = Radius(row, weights);
          std::copy(row.blocks().begin(), row.blocks().end(),
                    group_rows.begin() + lane * static_cast<std::ptrdiff_t>(row_bytes));
        }
        PackGroup(*shape, group_rows.data(), lanes, matrix.k, 0,
                  plane + group * shape->group_bytes);
      }
    });
  });
}

}  // namespace vivace
