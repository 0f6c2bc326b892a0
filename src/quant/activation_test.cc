#include "quant/activation.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "quant/testing.h"

namespace vivace {
namespace {

TEST(Activation, EveryBlockReachesItsEndAndStaysWithinHalfAStep) {
  const std::vector<float> x = RandomValues(1024, 4);
  const QuantizedRow row(x);
  for (std::size_t b = 0; b < row.d.size(); ++b) {
    int peak = 0;
    int sums[2] = {};
    for (std::size_t i = 0; i < 32; ++i) {
      const int q = row.q[32 * b + i];
      peak = std::max(peak, std::abs(q));
      sums[i / 16] += q;
      EXPECT_NEAR(static_cast<float>(q) * row.d[b], x[32 * b + i], 0.5001F * row.d[b]);
    }
    EXPECT_EQ(peak, 127);
    EXPECT_EQ(row.half_sum[2 * b], sums[0]);
    EXPECT_EQ(row.half_sum[2 * b + 1], sums[1]);
    EXPECT_EQ(row.sum[b], sums[0] + sums[1]);
  }
}

TEST(Activation, TiesGoToTheEvenInteger) {
  std::vector<float> x(32);
  x[0] = 127;
  x[1] = 0.5F;
  x[2] = 1.5F;
  x[3] = -2.5F;
  const QuantizedRow row(x);
  EXPECT_EQ(row.q[1], 0);
  EXPECT_EQ(row.q[2], 2);
  EXPECT_EQ(row.q[3], -2);
}

TEST(Activation, VanishingBlocksAreZeroAndTheLeastOtherIsNot) {
  std::vector<float> x(64, 0.9e-30F);
  x[40] = 1e-30F;
  const QuantizedRow row(x);
  EXPECT_EQ(row.d[0], 0.0F);
  EXPECT_EQ(row.q[0], 0);
  EXPECT_EQ(row.sum[0], 0);
  EXPECT_GT(row.d[1], 0.0F);
  EXPECT_EQ(row.q[40], 127);
}

TEST(Activation, NotANumberCountsAsZero) {
  std::vector<float> x(64, 1);
  x[3] = std::nanf("");
  x[40] = std::numeric_limits<float>::infinity();
  const QuantizedRow row(x);
  EXPECT_EQ(row.q[3], 0);
  EXPECT_EQ(row.q[4], 127);
  EXPECT_EQ(row.sum[0], 31 * 127);
  EXPECT_EQ(row.q[40], 0);
  EXPECT_EQ(row.sum[1], 0);
  EXPECT_TRUE(std::isinf(row.d[1]));
}

}  // namespace
}  // namespace vivace
