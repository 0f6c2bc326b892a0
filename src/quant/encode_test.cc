#include "quant/encode.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "quant/decode.h"
#include "quant/testing.h"

namespace vivace {
namespace {

TEST(EncodeRow, FixedFormatsAreThoseOfTheReferenceImplementation) {
  const auto input = ReadQuantData("encode_input.bin");
  std::vector<float> x(input.size() / sizeof(float));
  ASSERT_EQ(x.size(), 512U);
  std::memcpy(x.data(), input.data(), input.size());
  for (const char* name : {"F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "MXFP4"}) {
    const auto expected = ReadQuantData(std::string("encode_") + name + ".bin");
    const auto row = Encoded(*QuantTypeFromName(name), x);
    ASSERT_EQ(row.size(), expected.size()) << name;
    for (std::size_t i = 0; i < row.size(); ++i) {
      ASSERT_EQ(std::to_integer<int>(row[i]), static_cast<unsigned char>(expected[i]))
          << name << " byte " << i;
    }
  }
}

struct Bound {
  QuantType type;
  double error;  // root mean square error over normal values, relative to theirs
};

class EncodedError : public testing::TestWithParam<Bound> {};

double RelativeError(QuantType type, const std::vector<float>& x) {
  const auto row = Encoded(type, x);
  std::vector<float> decoded(x.size());
  DecodeRow(type, row.data(), x.size(), decoded.data());
  double error = 0;
  double square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error += std::pow(static_cast<double>(decoded[i]) - static_cast<double>(x[i]), 2);
    square += std::pow(static_cast<double>(x[i]), 2);
  }
  return std::sqrt(error / square);
}

TEST_P(EncodedError, IsSmallAndDoesNotDependOnTheScaleOfTheValues) {
  std::vector<float> x = RandomValues(8192, 1);
  EXPECT_LT(RelativeError(GetParam().type, x), GetParam().error);
  for (float& value : x) value *= 0.03125F;
  EXPECT_LT(RelativeError(GetParam().type, x), 1.05 * GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Quant, EncodedError,
    testing::Values(Bound{QuantType::kF32, 1e-9}, Bound{QuantType::kF16, 3e-4},
                    Bound{QuantType::kBF16, 2e-3}, Bound{QuantType::kQ8_0, 0.006},
                    Bound{QuantType::kQ6_K, 0.02}, Bound{QuantType::kQ5_K, 0.04},
                    Bound{QuantType::kQ5_1, 0.045}, Bound{QuantType::kQ5_0, 0.05},
                    Bound{QuantType::kQ4_K, 0.08}, Bound{QuantType::kQ4_1, 0.09},
                    Bound{QuantType::kQ4_0, 0.1}, Bound{QuantType::kIQ4_NL, 0.08},
                    Bound{QuantType::kIQ4_XS, 0.08}, Bound{QuantType::kMXFP4, 0.13},
                    Bound{QuantType::kQ3_K, 0.16}, Bound{QuantType::kQ2_K, 0.32}),
    [](const testing::TestParamInfo<Bound>& tested) {
      return std::string(Name(tested.param.type));
    });

// A second encoding of decoded values changes nothing that matters.
TEST(EncodeRow, ValuesOnTheGridOfABlockStayThere) {
  for (const QuantTypeFacts& facts : AllQuantTypes()) {
    const auto first = Encoded(facts.type, RandomValues(512, 2));
    std::vector<float> decoded(512);
    DecodeRow(facts.type, first.data(), 512, decoded.data());
    EXPECT_LT(RelativeError(facts.type, decoded), 0.03) << facts.name;
  }
}

TEST(EncodeRow, ZerosBecomeZeros) {
  for (const QuantTypeFacts& facts : AllQuantTypes()) {
    const auto row = Encoded(facts.type, std::vector<float>(512));
    std::vector<float> decoded(512, 1);
    DecodeRow(facts.type, row.data(), 512, decoded.data());
    EXPECT_EQ(std::ranges::count(decoded, 0.0F), 512) << facts.name;
  }
}

// Undefined conversions would stop this test under the sanitizers.
TEST(EncodeRow, HarshValuesOfAllKindsAreEncoded) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float harsh : {infinity, -infinity, std::nanf(""), std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::denorm_min(), 1e-38F}) {
    for (const QuantTypeFacts& facts : AllQuantTypes()) {
      std::vector<float> x = RandomValues(512, 3);
      x[300] = harsh;
      const auto mixed = Encoded(facts.type, x);
      std::vector<float> decoded(512);
      DecodeRow(facts.type, mixed.data(), 512, decoded.data());
      EXPECT_TRUE(std::isfinite(decoded[0])) << facts.name;  // another block, unharmed
      Encoded(facts.type, std::vector<float>(512, harsh));
    }
  }
}

}  // namespace
}  // namespace vivace
