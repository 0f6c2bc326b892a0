#include "quant/reference.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "quant/decode.h"
#include "quant/half.h"
#include "quant/sub_blocks.h"
#include "quant/testing.h"

namespace vivace {
namespace {

class EveryType : public testing::TestWithParam<QuantType> {};

// The product equals the dot product of the decoded weights with the rounded activations,
// computed in double, up to float32 rounding: relative to the sum of magnitudes.
TEST_P(EveryType, ProductIsTheDotProductOfWhatTheBlocksStandFor) {
  for (const std::size_t k : {256U, 512U, 4096U}) {
    const std::vector<std::byte> row = Encoded(GetParam(), RandomValues(k, 5));
    QuantizedRow a(RandomValues(k, 6));
    std::vector<float> weights(k);
    DecodeRow(GetParam(), row.data(), k, weights.data());
    const bool rounded = FactsOf(GetParam()).block_values > 1;
    double expected = 0;
    double magnitude = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const double activation = rounded
                                    ? static_cast<double>(a.q[i]) * static_cast<double>(a.d[i / 32])
                                    : static_cast<double>(a.x[i]);
      expected += static_cast<double>(weights[i]) * activation;
      magnitude += std::abs(static_cast<double>(weights[i]) * activation);
    }
    const float product = RowProductReference(GetParam(), row.data(), k, a.Row(), a.x.data());
    EXPECT_NEAR(static_cast<double>(product), expected, 1e-6 * magnitude) << "k = " << k;
  }
}

std::vector<QuantType> Types() {
  std::vector<QuantType> types;
  for (const QuantTypeFacts& facts : AllQuantTypes()) types.push_back(facts.type);
  return types;
}

INSTANTIATE_TEST_SUITE_P(Quant, EveryType, testing::ValuesIn(Types()), TypeName);

// The order of operations, spelled out on its own for a format of each kind: a change of
// the definition changes a bit here.
TEST(RowProductReference, Q8_0IsAChainOfFusedAdds) {
  constexpr std::size_t kValues = 320;
  const auto row = Encoded(QuantType::kQ8_0, RandomValues(kValues, 7));
  QuantizedRow a(RandomValues(kValues, 8));
  float acc = 0;
  for (std::size_t b = 0; b < kValues / 32; ++b) {
    const std::byte* block = row.data() + 34 * b;
    const auto half = static_cast<std::uint16_t>(std::to_integer<int>(block[0]) |
                                                 std::to_integer<int>(block[1]) << 8);
    int dot = 0;
    for (std::size_t i = 0; i < 32; ++i) {
      dot += static_cast<std::int8_t>(block[2 + i]) * a.q[32 * b + i];
    }
    acc = std::fma(static_cast<float>(dot), HalfToFloat(half) * a.d[b], acc);
  }
  EXPECT_EQ(RowProductReference(QuantType::kQ8_0, row.data(), kValues, a.Row(), a.x.data()), acc);
}

TEST(RowProductReference, Q4_1AddsItsMinimumToEachBlock) {
  constexpr std::size_t kValues = 320;
  const auto row = Encoded(QuantType::kQ4_1, RandomValues(kValues, 9));
  QuantizedRow a(RandomValues(kValues, 10));
  float acc = 0;
  for (std::size_t b = 0; b < kValues / 32; ++b) {
    const std::byte* block = row.data() + 20 * b;
    const auto byte = [&](std::size_t i) { return std::to_integer<int>(block[i]); };
    const float d = HalfToFloat(static_cast<std::uint16_t>(byte(0) | byte(1) << 8));
    const float m = HalfToFloat(static_cast<std::uint16_t>(byte(2) | byte(3) << 8));
    int dot = 0;
    for (std::size_t i = 0; i < 16; ++i) {
      dot += (byte(4 + i) & 15) * a.q[32 * b + i] + (byte(4 + i) >> 4) * a.q[32 * b + 16 + i];
    }
    const float of_block = std::fma(static_cast<float>(a.sum[b]), m, static_cast<float>(dot) * d);
    acc = std::fma(of_block, a.d[b], acc);
  }
  EXPECT_EQ(RowProductReference(QuantType::kQ4_1, row.data(), kValues, a.Row(), a.x.data()), acc);
}

TEST(RowProductReference, Q4_KHasItsIntegerScalesInTheFloats) {
  constexpr std::size_t kValues = 512;
  const auto row = Encoded(QuantType::kQ4_K, RandomValues(kValues, 13));
  QuantizedRow a(RandomValues(kValues, 14));
  float acc = 0;
  for (std::size_t b = 0; b < kValues / 32; ++b) {
    const SubBlock block = ReadSubBlock(QuantType::kQ4_K, row.data(), b);
    const float d = block.d * static_cast<float>(block.scale[0]);
    const float m = block.dmin * static_cast<float>(block.min[0]);
    int dot = 0;
    for (std::size_t i = 0; i < 32; ++i) dot += block.q[i] * a.q[32 * b + i];
    const float of_block = std::fma(static_cast<float>(a.sum[b]), -m, static_cast<float>(dot) * d);
    acc = std::fma(of_block, a.d[b], acc);
  }
  EXPECT_EQ(RowProductReference(QuantType::kQ4_K, row.data(), kValues, a.Row(), a.x.data()), acc);
}

TEST(RowProductReference, FloatWeightsUseTheFloatActivations) {
  const std::vector<float> w = RandomValues(96, 11);
  QuantizedRow a(RandomValues(96, 12));
  float acc = 0;
  for (std::size_t i = 0; i < w.size(); ++i) acc = std::fma(w[i], a.x[i], acc);
  const auto row = Encoded(QuantType::kF32, w);
  EXPECT_EQ(RowProductReference(QuantType::kF32, row.data(), w.size(), a.Row(), a.x.data()), acc);
}

}  // namespace
}  // namespace vivace
