#include "quant/decode.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "quant/testing.h"

namespace vivace {
namespace {

class EveryBlockType : public testing::TestWithParam<QuantType> {};

// The file holds blocks with random bits and what another implementation makes of them.
TEST_P(EveryBlockType, DecodesAsTheReferenceImplementation) {
  constexpr std::size_t kValues = 512;
  const auto file = ReadQuantData("decode_" + std::string(Name(GetParam())) + ".bin");
  const std::size_t row_bytes = *RowBytes(GetParam(), kValues);
  ASSERT_EQ(file.size(), row_bytes + kValues * sizeof(float));
  // One byte off, so that a load that needs alignment would show under sanitizers.
  std::vector<std::byte> row(row_bytes + 1);
  std::memcpy(row.data() + 1, file.data(), row_bytes);
  std::vector<float> expected(kValues);
  std::memcpy(expected.data(), file.data() + row_bytes, kValues * sizeof(float));
  std::vector<float> values(kValues);
  DecodeRow(GetParam(), row.data() + 1, kValues, values.data());
  for (std::size_t i = 0; i < kValues; ++i) ASSERT_EQ(values[i], expected[i]) << "value " << i;
}

INSTANTIATE_TEST_SUITE_P(Quant, EveryBlockType,
                         testing::Values(QuantType::kQ4_0, QuantType::kQ4_1, QuantType::kQ5_0,
                                         QuantType::kQ5_1, QuantType::kQ8_0, QuantType::kQ2_K,
                                         QuantType::kQ3_K, QuantType::kQ4_K, QuantType::kQ5_K,
                                         QuantType::kQ6_K, QuantType::kIQ4_NL, QuantType::kIQ4_XS,
                                         QuantType::kMXFP4),
                         TypeName);

TEST(DecodeRow, FloatsOfAnyAlignment) {
  const float values[] = {1.5F, -2.25F, 0x1p-20F};
  for (const QuantType type : {QuantType::kF32, QuantType::kF16, QuantType::kBF16}) {
    std::vector<std::byte> row(*RowBytes(type, 3) + 1);
    EncodeRow(type, values, 3, row.data() + 1);
    float out[3] = {};
    DecodeRow(type, row.data() + 1, 3, out);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(out[i], values[i]) << Name(type);
  }
}

}  // namespace
}  // namespace vivace
