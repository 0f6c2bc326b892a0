#include "quant/half.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace vivace {
namespace {

// The value by the format's definition, in double arithmetic.
double Definition(std::uint16_t half, int mantissa_bits, int bias) {
  const int exponent = (half & 0x7fff) >> mantissa_bits;
  const int mantissa = half & ((1 << mantissa_bits) - 1);
  const int all_ones = 0x7fff >> mantissa_bits;
  double value = 0;
  if (exponent == all_ones) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

TEST(Half, All65536ValuesConvertExactlyAndBack) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = HalfToFloat(half);
    const double expected = Definition(half, 10, 15);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(HalfToFloat(FloatToHalf(value)))) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(value), expected) << bits;
      ASSERT_EQ(FloatToHalf(value), half) << bits;
    }
  }
}

TEST(Bfloat16, All65536ValuesConvertExactlyAndBack) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto brief = static_cast<std::uint16_t>(bits);
    const float value = Bfloat16ToFloat(brief);
    const double expected = Definition(brief, 7, 127);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(Bfloat16ToFloat(FloatToBfloat16(value)))) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(value), expected) << bits;
      ASSERT_EQ(FloatToBfloat16(value), brief) << bits;
    }
  }
}

// Between two neighbours: below the middle down, above it up, on it to the even one.
TEST(Half, RoundsToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const auto lower = static_cast<std::uint16_t>(bits);
    const auto upper = static_cast<std::uint16_t>(bits + 1);
    const float middle = (HalfToFloat(lower) + HalfToFloat(upper)) / 2;  // exact
    ASSERT_EQ(FloatToHalf(middle), bits % 2 == 0 ? lower : upper) << bits;
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 0.0F)), lower) << bits;
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 1e30F)), upper) << bits;
    ASSERT_EQ(FloatToHalf(-middle), FloatToHalf(middle) | 0x8000) << bits;
  }
}

TEST(Half, TheEndsOfTheRange) {
  EXPECT_EQ(FloatToHalf(65504.0F), 0x7bff);
  EXPECT_EQ(FloatToHalf(65519.99F), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0F), 0x7c00);
  EXPECT_EQ(FloatToHalf(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_EQ(FloatToHalf(0x1p-25F), 0);  // half of the least: to even
  EXPECT_EQ(FloatToHalf(-0.0F), 0x8000);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::denorm_min()), 0);
}

TEST(Bfloat16, RoundsToNearestEvenAndOverflowsToInfinity) {
  EXPECT_EQ(FloatToBfloat16(std::bit_cast<float>(0x3f808000U)), 0x3f80);
  EXPECT_EQ(FloatToBfloat16(std::bit_cast<float>(0x3f818000U)), 0x3f82);
  EXPECT_EQ(FloatToBfloat16(std::bit_cast<float>(0x3f808001U)), 0x3f81);
  EXPECT_EQ(FloatToBfloat16(std::numeric_limits<float>::max()), 0x7f80);
}

}  // namespace
}  // namespace vivace
