#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"

#include "kernels/dispatch.h"
#include "kernels/testing.h"

namespace vivace {
namespace {

const KernelTable& Portable() { return *SupportedKernels().front(); }

class FloatKernelsTest : public testing::TestWithParam<const KernelTable*> {
 protected:
  const KernelTable& kernels() const { return *GetParam(); }

  std::vector<float> Random(std::int64_t size, float scale = 3.0F) {
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> out(static_cast<std::size_t>(size));
    for (float& value : out) value = normal(random_);
    return out;
  }

  std::mt19937 random_{5};
};

TEST_P(FloatKernelsTest, ExpIsCloseAndTheSame) {
  std::vector<float> x = Random(4096, 30.0F);
  const float edges[] = {0.0F, -0.0F, -87.0F, -1000.0F, 88.0F, 500.0F, 1e-30F, -1e-30F};
  std::copy(std::begin(edges), std::end(edges), x.begin());
  std::vector<float> out(x.size());
  std::vector<float> expected(x.size());
  kernels().exp(x.data(), out.data(), 4096);
  Portable().exp(x.data(), expected.data(), 4096);
  EXPECT_EQ(out, expected);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double truth = std::exp(static_cast<double>(std::clamp(x[i], -87.0F, 88.0F)));
    EXPECT_NEAR(static_cast<double>(out[i]) / truth, 1.0, 3e-7) << x[i];
  }
}

TEST_P(FloatKernelsTest, RmsNormIsCloseAndTheSame) {
  for (const std::int64_t size : {16, 64, 896, 576}) {
    const auto x = Random(size);
    const auto gain = Random(size);
    std::vector<float> out(x.size());
    std::vector<float> expected(x.size());
    kernels().rms_norm(x.data(), gain.data(), out.data(), size, 1e-6F);
    Portable().rms_norm(x.data(), gain.data(), expected.data(), size, 1e-6F);
    EXPECT_EQ(out, expected);
    double squares = 0;
    for (const float value : x) squares += static_cast<double>(value) * static_cast<double>(value);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(size) + 1e-6);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(out[i], static_cast<double>(x[i]) * scale * static_cast<double>(gain[i]), 1e-5);
    }
  }
}

TEST_P(FloatKernelsTest, QuantizeEqualsTheDefinition) {
  constexpr std::int64_t kSize = 1024;
  auto x = Random(kSize);
  std::fill_n(x.begin(), 32, 0.0F);
  std::fill_n(x.begin() + 32, 32, 1e-35F);
  for (std::size_t i = 0; i < 32; ++i) x[64 + i] = static_cast<float>(i) - 15.5F;
  x[96] = 3e38F;
  x[130] = std::numeric_limits<float>::quiet_NaN();
  x[170] = std::numeric_limits<float>::infinity();
  AlignedArray<std::int8_t> q(kSize);
  AlignedArray<std::int8_t> expected_q(kSize);
  std::vector<float> d(32);
  std::vector<float> expected_d(32);
  std::vector<std::int32_t> sums(32);
  std::vector<std::int32_t> expected_sums(32);
  std::vector<std::int32_t> halves(64);
  std::vector<std::int32_t> expected_halves(64);
  kernels().quantize(x.data(), kSize, q.data(), d.data(), sums.data(), halves.data());
  QuantizeRowReference(x.data(), kSize,
                       {.q = expected_q.data(),
                        .d = expected_d.data(),
                        .sum = expected_sums.data(),
                        .half_sum = expected_halves.data()});
  EXPECT_TRUE(std::equal(q.data(), q.data() + kSize, expected_q.data()));
  EXPECT_EQ(d, expected_d);
  EXPECT_EQ(sums, expected_sums);
  EXPECT_EQ(halves, expected_halves);
}

TEST_P(FloatKernelsTest, RopeTurnsPairsByTheAngle) {
  constexpr std::int64_t kDim = 64;
  const auto start = Random(kDim);
  std::vector<float> cos(kDim / 2);
  std::vector<float> sin(kDim / 2);
  for (std::size_t i = 0; i < cos.size(); ++i) {
    cos[i] = std::cos(0.1F * static_cast<float>(i));
    sin[i] = std::sin(0.1F * static_cast<float>(i));
  }
  auto halves = start;
  auto pairs = start;
  kernels().rope_halves(halves.data(), cos.data(), sin.data(), kDim);
  kernels().rope_pairs(pairs.data(), cos.data(), sin.data(), kDim);
  for (std::size_t i = 0; i < kDim / 2; ++i) {
    EXPECT_EQ(halves[i], std::fma(start[i], cos[i], -(start[i + 32] * sin[i])));
    EXPECT_EQ(halves[i + 32], std::fma(start[i + 32], cos[i], start[i] * sin[i]));
    EXPECT_EQ(pairs[2 * i], std::fma(start[2 * i], cos[i], -(start[2 * i + 1] * sin[i])));
    EXPECT_EQ(pairs[2 * i + 1], std::fma(start[2 * i + 1], cos[i], start[2 * i] * sin[i]));
  }
}

TEST_P(FloatKernelsTest, SiluMulIsCloseAndTheSame) {
  const auto gate = Random(512, 10.0F);
  const auto up = Random(512);
  std::vector<float> out(512);
  std::vector<float> expected(512);
  kernels().silu_mul(gate.data(), up.data(), out.data(), 512);
  Portable().silu_mul(gate.data(), up.data(), expected.data(), 512);
  EXPECT_EQ(out, expected);
  for (std::size_t i = 0; i < 512; ++i) {
    const double g = static_cast<double>(gate[i]);
    EXPECT_NEAR(out[i], g / (1 + std::exp(-g)) * static_cast<double>(up[i]), 2e-5);
  }
}

TEST_P(FloatKernelsTest, ToHalfRoundsToNearestEven) {
  std::vector<float> x;
  for (std::uint32_t half = 0; half < 0x7c00; half += 3) {
    const float low = HalfToFloat(static_cast<std::uint16_t>(half));
    const float high = HalfToFloat(static_cast<std::uint16_t>(half + 1));
    x.insert(x.end(), {low, -low, (low + high) / 2, low + (high - low) * 0.51F});
  }
  x.insert(x.end(), {65519.9F, 65520.0F, 1e30F, -1e30F});
  while (x.size() % 16 != 0) x.push_back(0);
  std::vector<std::uint16_t> out(x.size());
  kernels().to_half(x.data(), out.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(out[i], FloatToHalf(x[i])) << x[i];
}

// One key/value head with `heads` query heads, positions [0, length).
struct AttentionCase {
  AttentionCase(std::int64_t heads_in, std::int64_t dim_in, std::int64_t rows_in,
                std::mt19937& random)
      : heads(heads_in), dim(dim_in), rows(rows_in), pages(8) {
    std::normal_distribution<float> normal;
    for (auto& page : pages) {
      page.resize(static_cast<std::size_t>(2 * 16 * dim));
      for (std::uint16_t& half : page) half = FloatToHalf(normal(random));
      keys.push_back(page.data());
      values.push_back(page.data() + 16 * dim);
    }
    q.resize(static_cast<std::size_t>(rows * heads * dim));
    for (float& value : q) value = normal(random);
  }
  struct Out {
    std::vector<float> max, sum, out;
    bool operator==(const Out&) const = default;
  };
  Out Run(const KernelTable& kernels, std::int64_t visible) const {
    const auto count = static_cast<std::size_t>(rows * heads);
    Out result = {std::vector<float>(count, -1.0F), std::vector<float>(count, -1.0F),
                  std::vector<float>(count * static_cast<std::size_t>(dim), -1.0F)};
    kernels.attention_chunk({.q = q.data(),
                             .q_stride = heads * dim,
                             .rows = rows,
                             .heads = heads,
                             .dim = dim,
                             .keys = keys.data(),
                             .values = values.data(),
                             .next_pages = 0,
                             .visible = visible,
                             .max = result.max.data(),
                             .sum = result.sum.data(),
                             .out = result.out.data()});
    return result;
  }

  std::int64_t heads, dim, rows;
  std::vector<std::vector<std::uint16_t>> pages;
  std::vector<const std::uint16_t*> keys, values;
  std::vector<float> q;
};

TEST_P(FloatKernelsTest, AttentionIsTheSameForEveryVisibleCount) {
  const AttentionCase attention(3, 16, 2, random_);
  for (std::int64_t visible = -3; visible <= 131; ++visible) {
    EXPECT_EQ(attention.Run(kernels(), visible), attention.Run(Portable(), visible)) << visible;
  }
}

TEST_P(FloatKernelsTest, AttentionIsTheSameForEveryShape) {
  for (const std::int64_t heads : {1, 3, 7, 8}) {
    for (const std::int64_t rows : {1, 2, 5, 9}) {
      const AttentionCase attention(heads, 64, rows, random_);
      for (const std::int64_t visible : {-4, 14, 125}) {
        EXPECT_EQ(attention.Run(kernels(), visible), attention.Run(Portable(), visible))
            << heads << " heads, " << rows << " rows, " << visible << " visible";
      }
    }
  }
  for (const std::int64_t dim : {16, 80, 128, 256}) {
    const AttentionCase attention(2, dim, 3, random_);
    EXPECT_EQ(attention.Run(kernels(), 77), attention.Run(Portable(), 77)) << dim;
  }
}

// A position that a row does not see yet must not reach it, whatever is there.
TEST_P(FloatKernelsTest, AttentionDoesNotSeeTheFuture) {
  constexpr std::int64_t kRows = 6;
  const AttentionCase attention(2, 32, kRows, random_);
  AttentionCase spoilt = attention;
  for (std::size_t i = 0; i < spoilt.pages.size(); ++i) {
    spoilt.keys[i] = spoilt.pages[i].data();
    spoilt.values[i] = spoilt.pages[i].data() + 16 * 32;
  }
  constexpr std::uint16_t kInfinity = 0x7c00;
  for (std::size_t d = 0; d < 32; ++d) {
    spoilt.pages[0][16 * d + 12] = kInfinity;            // key of position 12
    spoilt.pages[0][16 * 32 + 32 * 12 + d] = kInfinity;  // its value
  }
  const auto clean = attention.Run(kernels(), 8);
  const auto out = spoilt.Run(kernels(), 8);
  // Row r sees positions below 8 + r: rows 0 to 4 do not see position 12.
  constexpr std::ptrdiff_t kUnaware = 5 * 2;
  EXPECT_TRUE(std::equal(out.max.begin(), out.max.begin() + kUnaware, clean.max.begin()));
  EXPECT_TRUE(std::equal(out.sum.begin(), out.sum.begin() + kUnaware, clean.sum.begin()));
  EXPECT_TRUE(std::equal(out.out.begin(), out.out.begin() + kUnaware * 32, clean.out.begin()));
}

TEST_P(FloatKernelsTest, AttentionRowsDoNotDependOnEachOther) {
  const AttentionCase attention(7, 64, 9, random_);
  const auto whole = attention.Run(kernels(), 40);
  for (std::int64_t row = 0; row < attention.rows; ++row) {
    AttentionCase single = attention;
    single.keys = attention.keys;
    single.values = attention.values;
    single.rows = 1;
    single.q.erase(single.q.begin(), single.q.begin() + row * 7 * 64);
    const auto out = single.Run(kernels(), 40 + row);
    EXPECT_TRUE(std::equal(out.sum.begin(), out.sum.end(), whole.sum.begin() + row * 7)) << row;
    EXPECT_TRUE(std::equal(out.out.begin(), out.out.end(), whole.out.begin() + row * 7 * 64))
        << row;
  }
}

TEST_P(FloatKernelsTest, AttentionIsASoftmax) {
  const AttentionCase attention(2, 64, 1, random_);
  for (const std::int64_t visible : {1, 17, 128}) {
    const auto out = attention.Run(kernels(), visible);
    for (std::size_t head = 0; head < 2; ++head) {
      std::vector<double> weights;
      for (std::int64_t p = 0; p < visible; ++p) {
        double score = 0;
        for (std::int64_t d = 0; d < 64; ++d) {
          score += static_cast<double>(attention.q[head * 64 + static_cast<std::size_t>(d)]) *
                   static_cast<double>(HalfToFloat(
                       attention.keys[static_cast<std::size_t>(p / 16)][d * 16 + p % 16]));
        }
        weights.push_back(score);
      }
      const double best = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(weight - best);
      for (std::int64_t d = 0; d < 64; ++d) {
        double value = 0;
        for (std::int64_t p = 0; p < visible; ++p) {
          value += weights[static_cast<std::size_t>(p)] / sum *
                   static_cast<double>(HalfToFloat(
                       attention.values[static_cast<std::size_t>(p / 16)][p % 16 * 64 + d]));
        }
        EXPECT_NEAR(out.out[head * 64 + static_cast<std::size_t>(d)] / out.sum[head], value, 1e-4);
      }
    }
  }
}

TEST_P(FloatKernelsTest, MergeIsTheSame) {
  const auto start = Random(64);
  const auto next = Random(64);
  for (const float next_max : {-3.0F, 0.5F, 90.0F}) {
    float max[2] = {0.25F, 0.25F};
    float sum[2] = {1.5F, 1.5F};
    auto out = start;
    auto expected = start;
    kernels().attention_merge(&max[0], &sum[0], out.data(), next_max, 2.5F, next.data(), 64);
    Portable().attention_merge(&max[1], &sum[1], expected.data(), next_max, 2.5F, next.data(), 64);
    EXPECT_EQ(max[0], max[1]);
    EXPECT_EQ(sum[0], sum[1]);
    EXPECT_EQ(out, expected);
  }
}

TEST_P(FloatKernelsTest, DotPeakMakesTheProductsItCounts) {
  const std::uint8_t a[4] = {31, 0, 1, 30};
  std::int8_t b[64];
  for (int i = 0; i < 64; ++i) b[i] = static_cast<std::int8_t>(i % 3 == 0 ? -127 : 127 - i);
  for (const std::int64_t rounds : {0, 1, 3, 1000}) {
    std::int32_t out[16];
    const std::int64_t products = kernels().dot_peak(a, b, rounds, out);
    EXPECT_GE(products, 64 * rounds);
    for (int lane = 0; lane < 16; ++lane) {
      std::int64_t dot = 0;
      for (int i = 0; i < 4; ++i) dot += a[i] * b[4 * lane + i];
      EXPECT_EQ(out[lane], static_cast<std::int32_t>(products / 64 * dot)) << lane;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryIsa, FloatKernelsTest, testing::ValuesIn(TestedKernels()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace vivace
