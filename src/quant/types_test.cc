#include "quant/types.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace vivace {
namespace {

TEST(QuantTypes, NamesAndNumbersLeadBackToTheType) {
  EXPECT_EQ(AllQuantTypes().size(), 16U);
  for (const QuantTypeFacts& facts : AllQuantTypes()) {
    EXPECT_EQ(*QuantTypeFromId(static_cast<std::uint32_t>(facts.type)), facts.type);
    EXPECT_EQ(*QuantTypeFromName(facts.name), facts.type);
    EXPECT_EQ(Name(facts.type), facts.name);
  }
}

TEST(QuantTypes, UnknownNumbersAndNamesAreNamedInTheError) {
  const auto removed = QuantTypeFromId(4);  // Q4_2, which no program writes any more
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(removed.error().message.find("quant type 4 is unknown"), std::string::npos);
  EXPECT_NE(removed.error().message.find("Q4_K"), std::string::npos);
  EXPECT_FALSE(QuantTypeFromId(UINT32_MAX));
  const auto named = QuantTypeFromName("q4_k");
  ASSERT_FALSE(named);
  EXPECT_NE(named.error().message.find("\"q4_k\""), std::string::npos);
}

TEST(QuantTypes, RowBytes) {
  EXPECT_EQ(*RowBytes(QuantType::kF32, 7), 28U);
  EXPECT_EQ(*RowBytes(QuantType::kQ8_0, 896), 952U);
  EXPECT_EQ(*RowBytes(QuantType::kQ6_K, 512), 420U);
  EXPECT_EQ(*RowBytes(QuantType::kMXFP4, 0), 0U);
}

TEST(QuantTypes, RowBytesRefusesPartBlocksAndOverflow) {
  const auto part = RowBytes(QuantType::kQ4_K, 896);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(part.error().message.find("a row of 896 values in Q4_K"), std::string::npos);
  EXPECT_NE(part.error().message.find("multiple of 256"), std::string::npos);
  EXPECT_FALSE(RowBytes(QuantType::kF32, SIZE_MAX / 4 + 1));
  EXPECT_TRUE(RowBytes(QuantType::kF32, SIZE_MAX / 4));
}

}  // namespace
}  // namespace vivace
