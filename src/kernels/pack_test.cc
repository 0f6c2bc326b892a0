#include "kernels/pack.h"

#include "gtest/gtest.h"

#include "kernels/packed_layout.h"
#include "kernels/testing.h"

namespace vivace {
namespace {

class PackTest : public testing::TestWithParam<QuantType> {};

TEST_P(PackTest, UnpackGivesEveryByteBack) {
  std::mt19937 random(1);
  for (const std::int64_t k : {32, 96, 256, 512, 896}) {
    if (static_cast<std::size_t>(k) % FactsOf(GetParam()).block_values != 0) continue;
    for (const std::int64_t rows : {1, 16, 37}) {
      const std::size_t row_bytes = *RowBytes(GetParam(), static_cast<std::size_t>(k));
      std::vector<std::byte> source(static_cast<std::size_t>(rows) * row_bytes);
      for (std::byte& byte : source) byte = static_cast<std::byte>(random() & 255);
      const PackedShape shape = *PackedShapeOf(GetParam(), rows, k);
      AlignedArray<std::byte> packed(static_cast<std::size_t>(shape.total_bytes));
      for (std::int64_t group = 0; group < shape.groups; ++group) {
        PackGroup(shape, source.data(), rows, k, group, packed.data() + group * shape.group_bytes);
      }
      std::vector<std::byte> row(row_bytes);
      for (std::int64_t i = 0; i < rows; ++i) {
        UnpackRow(shape, packed.data(), i, k, row.data());
        EXPECT_TRUE(std::equal(row.begin(), row.end(),
                               source.begin() + i * static_cast<std::int64_t>(row_bytes)))
            << "row " << i << " of " << rows << " x " << k;
      }
    }
  }
}

TEST_P(PackTest, TakesAsManyBytesAsTheFile) {
  const std::int64_t k = 512;
  const PackedShape shape = *PackedShapeOf(GetParam(), 64, k);
  EXPECT_EQ(static_cast<std::size_t>(shape.total_bytes), 64 * *RowBytes(GetParam(), 512));
}

INSTANTIATE_TEST_SUITE_P(Types, PackTest, testing::ValuesIn(PackedTypes()),
                         [](const auto& test) { return std::string(Name(test.param)); });

TEST(PackedShapeTest, RefusesWhatItCannotHold) {
  EXPECT_EQ(PackedShapeOf(QuantType::kQ4_K, 16, 896).error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(PackedShapeOf(QuantType::kMXFP4, 16, 100).error().kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace vivace
