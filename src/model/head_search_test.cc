// The search against a full scan of the same matrix, bit for bit.
#include "model/head_search.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include "gtest/gtest.h"

#include "kernels/dispatch.h"
#include "kernels/pack.h"
#include "kernels/testing.h"
#include "model/multiply.h"
#include "quant/decode.h"
#include "quant/encode.h"

namespace vivace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::size_t Size(std::int64_t value) { return static_cast<std::size_t>(value); }

// An output matrix with its coarse head, and rows of activations.
class Head {
 public:
  Head(QuantType type, std::int64_t rows, std::int64_t k, std::vector<std::byte> gguf, int threads,
       const KernelTable& kernels)
      : rows_(rows),
        k_(k),
        gguf_(std::move(gguf)),
        kernels_(kernels),
        team_({.threads = threads}),
        exact_(Bytes(type)),
        plane_(Bytes(QuantType::kQ4_0)),
        radius_(Size(rows)),
        inverse_weights_(Size(k)),
        space_(std::move(*Workspace::Allocate(ConfigOf(k), kMaxRows, threads))) {
    const PackedShape shape = *PackedShapeOf(type, rows, k);
    for (std::int64_t group = 0; group < shape.groups; ++group) {
      PackGroup(shape, gguf_.data(), rows, k, group, exact_.data() + group * shape.group_bytes);
    }
    weights_.output = MatrixOf(type, exact_);
    const RowMajor source = {.type = type, .rows = rows, .k = k, .data = gguf_.data()};
    const std::vector<float> typical(Size(k), 1.0F);
    ChooseInverseWeights(source, typical, {inverse_weights_.data(), Size(k)});
    MakeCoarseHead(source, {inverse_weights_.data(), Size(k)}, plane_.data(), radius_.data(),
                   team_);
    weights_.coarse_head = {.plane = MatrixOf(QuantType::kQ4_0, plane_),
                            .radius = radius_.data(),
                            .inverse_weights = inverse_weights_.data()};
    search_ = std::make_unique<HeadSearch>(weights_, kMaxRows, threads);
  }

  float* x(std::int64_t row) { return space_.hidden_activations.x(row); }

  // Searches for the first `count` rows at once and compares each with all its logits.
  // Returns how many groups were read exactly.
  std::int64_t Check(std::int64_t count, float depth, std::span<const TokenMask> masks = {}) {
    for (std::int64_t row = 0; row < count; ++row) {
      space_.hidden_activations.Quantize(kernels_, row, x(row));
    }
    const std::int64_t stride = weights_.output.groups() * kGroupRows;
    std::vector<float> found(Size(count * stride));
    std::vector<HeadResult> results(Size(count));
    search_->Find(0, depth, space_, team_, found.data(), results, masks);
    std::int64_t groups = 0;
    for (std::int64_t row = 0; row < count; ++row) {
      std::vector<float> all = Product(weights_.output, row);
      CheckRadius(all, row);
      if (!masks.empty()) Forbid(masks[Size(row)], 0, all);
      CheckRow(results[Size(row)], all, found.data() + row * stride);
      groups += results[Size(row)].groups;
    }
    return groups;
  }

  static constexpr std::int64_t kMaxRows = 5;

 private:
  static Config ConfigOf(std::int64_t k) {
    Config config;
    config.hidden = k;
    config.ffn = k;
    config.heads = 1;
    config.kv_heads = 1;
    config.head_dim = 64;
    return config;
  }
  std::size_t Bytes(QuantType type) const {
    return Size(PackedShapeOf(type, rows_, k_)->total_bytes);
  }
  Matrix MatrixOf(QuantType type, AlignedArray<std::byte>& data) const {
    const PackedShape shape = *PackedShapeOf(type, rows_, k_);
    return {.type = type,
            .rows = rows_,
            .k = shape.k,
            .group_bytes = shape.group_bytes,
            .data = data.data(),
            .matmul = MatmulFor(kernels_, type)};
  }
  std::vector<float> Product(const Matrix& matrix, std::int64_t row) {
    std::vector<float> out(Size(matrix.groups() * kGroupRows));
    const Activations activations = RowsFrom(space_.hidden_activations.view(), row, matrix.k);
    Multiplier(activations, 1, space_.threads[0])(matrix, 0, matrix.groups(), out.data(),
                                                  static_cast<std::int64_t>(out.size()));
    out.resize(Size(rows_));
    return out;
  }
  void CheckRow(const HeadResult& result, const std::vector<float>& all, const float* found) {
    std::size_t best = 0;
    float best_logit = -kInf;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] > best_logit) {
        best = i;
        best_logit = all[i];
      }
    }
    EXPECT_EQ(result.token, static_cast<TokenId>(best));
    EXPECT_EQ(result.logit, best_logit);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool same =
          std::bit_cast<std::uint32_t>(found[i]) == std::bit_cast<std::uint32_t>(all[i]);
      const bool left_out = found[i] == -kInf && !(all[i] >= result.floor);
      ASSERT_TRUE(same || left_out) << "row " << i << ": " << found[i] << ", not " << all[i];
    }
  }
  void CheckRadius(const std::vector<float>& all, std::int64_t row) {
    const std::vector<float> coarse = Product(weights_.coarse_head.plane, row);
    const float reach = Reach(weights_.coarse_head, RowsFrom(space_.hidden_activations.view(), row,
                                                             weights_.coarse_head.plane.k));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double error = std::fabs(static_cast<double>(all[i]) - static_cast<double>(coarse[i]));
      const double bound = static_cast<double>(radius_[i]) * static_cast<double>(reach);
      ASSERT_FALSE(error > bound) << "row " << i << ": " << error << " above " << bound;
    }
  }

  std::int64_t rows_;
  std::int64_t k_;
  std::vector<std::byte> gguf_;
  const KernelTable& kernels_;
  ThreadTeam team_;
  AlignedArray<std::byte> exact_;
  AlignedArray<std::byte> plane_;
  AlignedArray<float> radius_;
  AlignedArray<float> inverse_weights_;
  Workspace space_;
  Weights weights_;
  std::unique_ptr<HeadSearch> search_;
};

// Rows of ordinary numbers; some are twins, which makes ties.
std::vector<std::byte> Rows(QuantType type, std::int64_t rows, std::int64_t k,
                            std::mt19937& random) {
  const std::size_t row_bytes = *RowBytes(type, Size(k));
  std::vector<std::byte> out(Size(rows) * row_bytes);
  std::normal_distribution<float> normal;
  std::vector<float> values(Size(k));
  for (std::size_t row = 0; row < Size(rows); ++row) {
    for (float& value : values) value = 0.02F * normal(random);
    EncodeRow(type, values.data(), Size(k), out.data() + row * row_bytes);
    if (row >= 40 && row % 7 == 0) {
      std::memcpy(out.data() + row * row_bytes, out.data() + (row - 40) * row_bytes, row_bytes);
    }
  }
  return out;
}

// Activations near a multiple of row `row` of the matrix.
void Towards(const std::vector<std::byte>& gguf, QuantType type, std::int64_t row, std::int64_t k,
             float factor, std::mt19937& random, float* x) {
  std::normal_distribution<float> normal;
  DecodeRow(type, gguf.data() + Size(row) * *RowBytes(type, Size(k)), Size(k), x);
  for (std::int64_t i = 0; i < k; ++i) x[i] = factor * (x[i] + 0.01F * normal(random));
}

using Param = std::tuple<const KernelTable*, QuantType>;

class HeadSearchTest : public testing::TestWithParam<Param> {
 protected:
  const KernelTable& kernels() const { return *std::get<0>(GetParam()); }
  QuantType type() const { return std::get<1>(GetParam()); }
};

TEST_P(HeadSearchTest, FindsWhatAFullScanFinds) {
  std::mt19937 random(7);
  const std::int64_t k = type() == QuantType::kQ6_K ? 256 : 224;
  for (const std::int64_t rows : {1, 16, 100, 1500}) {
    const auto gguf = Rows(type(), rows, k, random);
    for (const int threads : {1, 3}) {
      Head head(type(), rows, k, gguf, threads, kernels());
      for (int round = 0; round < 8; ++round) {
        for (std::int64_t row = 0; row < Head::kMaxRows; ++row) {
          const auto target = static_cast<std::int64_t>(random() % Size(rows));
          Towards(gguf, type(), target, k, 50, random, head.x(row));
        }
        head.Check(1 + round % Head::kMaxRows, round % 2 == 0 ? 0.0F : 5.0F);
      }
    }
  }
}

TEST_P(HeadSearchTest, FindsTheLargestOfThoseThatMasksAllow) {
  std::mt19937 random(12);
  const std::int64_t k = 256;
  for (const std::size_t rows : {std::size_t{100}, std::size_t{1500}}) {
    const auto gguf = Rows(type(), static_cast<std::int64_t>(rows), k, random);
    Head head(type(), static_cast<std::int64_t>(rows), k, gguf, 2, kernels());
    for (const std::size_t allowed : {std::size_t{1}, std::size_t{20}, 2 * rows}) {
      std::vector<std::vector<std::uint32_t>> bits(3);
      for (auto& words : bits) {
        words.resize((rows + 31) / 32);
        for (std::size_t i = 0; i < allowed; ++i) {
          const std::size_t token = random() % rows;
          words[token / 32] |= 1U << (token % 32);
        }
      }
      const TokenMask masks[] = {bits[0], {}, bits[1], bits[2]};
      for (std::int64_t row = 0; row < 4; ++row) {
        const auto target = static_cast<std::int64_t>(random() % rows);
        Towards(gguf, type(), target, k, 50, random, head.x(row));
      }
      head.Check(4, 0, masks);
      head.Check(4, 5, masks);
    }
  }
}

TEST_P(HeadSearchTest, ReadsFewGroupsWhereOneRowStandsOut) {
  std::mt19937 random(8);
  const std::int64_t k = 512;
  const auto gguf = Rows(type(), 4000, k, random);
  Head head(type(), 4000, k, gguf, 2, kernels());
  Towards(gguf, type(), 1234, k, 300, random, head.x(0));
  EXPECT_LE(head.Check(1, 0), 5);
}

// Activations along what the coarse row lacks: where Cauchy and Schwarz are nearly equal.
TEST_P(HeadSearchTest, HoldsWhereTheBoundIsTight) {
  std::mt19937 random(9);
  const std::int64_t k = 256;
  const auto gguf = Rows(type(), 64, k, random);
  Head head(type(), 64, k, gguf, 1, kernels());
  const std::size_t row_bytes = *RowBytes(type(), Size(k));
  std::vector<float> exact(Size(k));
  std::vector<float> coarse(Size(k));
  std::vector<std::byte> blocks(*RowBytes(QuantType::kQ4_0, Size(k)));
  for (std::size_t row = 0; row < 64; ++row) {
    DecodeRow(type(), gguf.data() + row * row_bytes, Size(k), exact.data());
    EncodeRow(QuantType::kQ4_0, exact.data(), Size(k), blocks.data());
    DecodeRow(QuantType::kQ4_0, blocks.data(), Size(k), coarse.data());
    for (std::size_t i = 0; i < Size(k); ++i) head.x(0)[i] = 1000 * (exact[i] - coarse[i]);
    head.Check(1, 0);
    for (std::size_t i = 0; i < Size(k); ++i) head.x(0)[i] *= -1;
    head.Check(1, 0);
  }
}

TEST_P(HeadSearchTest, SurvivesExtremeActivations) {
  std::mt19937 random(10);
  const std::int64_t k = 256;
  const auto gguf = Rows(type(), 200, k, random);
  Head head(type(), 200, k, gguf, 2, kernels());
  const float values[] = {0.0F,   1e-38F, 1e-29F,
                          1e-20F, 1e15F,  1e25F,
                          3e38F,  kInf,   std::numeric_limits<float>::quiet_NaN()};
  for (const float value : values) {
    std::fill_n(head.x(0), k, 0.0F);
    head.x(0)[3] = value;
    head.Check(1, 0);
    std::fill_n(head.x(0), k, value);
    head.Check(1, 1);
  }
}

TEST_P(HeadSearchTest, SurvivesExtremeScales) {
  std::mt19937 random(11);
  const std::int64_t k = 256;
  const std::size_t row_bytes = *RowBytes(type(), Size(k));
  const std::size_t scale_at = ScaleOffsets(type())[0];
  // Zero, the smallest, the largest, infinite, NaN, negative.
  constexpr std::uint16_t kHalves[] = {0x0000, 0x0001, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0xfbff};
  for (const std::uint16_t half : kHalves) {
    auto gguf = Rows(type(), 100, k, random);
    for (const std::size_t row : {5U, 50U, 99U}) {
      std::memcpy(gguf.data() + row * row_bytes + scale_at, &half, sizeof half);
    }
    Head head(type(), 100, k, gguf, 2, kernels());
    Towards(gguf, type(), 20, k, 100, random, head.x(0));
    head.Check(1, 0);
    head.Check(1, 3);
  }
}

std::vector<Param> AllParams() {
  std::vector<Param> params;
  for (const KernelTable* table : SupportedKernels()) {
    for (const QuantType type : {QuantType::kQ8_0, QuantType::kQ6_K})
      params.emplace_back(table, type);
  }
  return params;
}

INSTANTIATE_TEST_SUITE_P(EveryIsa, HeadSearchTest, testing::ValuesIn(AllParams()),
                         [](const testing::TestParamInfo<Param>& param) {
                           return std::string(std::get<0>(param.param)->name) + "_" +
                                  std::string(Name(std::get<1>(param.param)));
                         });

TEST(CoarseHeadTest, PaysForLargeTypesOnly) {
  EXPECT_TRUE(CoarseHeadPays(QuantType::kQ8_0, 896));
  EXPECT_TRUE(CoarseHeadPays(QuantType::kQ6_K, 2048));
  EXPECT_FALSE(CoarseHeadPays(QuantType::kQ4_1, 576));
  EXPECT_FALSE(CoarseHeadPays(QuantType::kF16, 576));
  EXPECT_FALSE(CoarseHeadPays(QuantType::kQ8_0, 1 << 20));
}

}  // namespace
}  // namespace vivace
