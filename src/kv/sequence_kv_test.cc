#include "kv/sequence_kv.h"

#include <set>

#include "gtest/gtest.h"

namespace vivace {
namespace {

constexpr PageShape kShape = {.layers = 3, .kv_heads = 2, .dim = 64};

TEST(PageShapeTest, HeadsLieOneAfterTheOther) {
  EXPECT_EQ(kShape.head_size(), 2 * 64 * 16);
  EXPECT_EQ(kShape.page_size(), 3 * 2 * 2 * 64 * 16);
  EXPECT_EQ(kShape.key_offset(0, 1), kShape.head_size());
  EXPECT_EQ(kShape.value_offset(2, 1), kShape.page_size() - 64 * 16);
}

TEST(SequenceKvTest, TakesAPagePerSixteenPositions) {
  auto pool = PagePool::Create(kShape, 4);
  ASSERT_TRUE(pool.has_value());
  SequenceKv sequence(*pool);
  ASSERT_TRUE(sequence.Extend(16).has_value());
  EXPECT_EQ(sequence.pages().size(), 1U);
  ASSERT_TRUE(sequence.Extend(1).has_value());
  EXPECT_EQ(sequence.pages().size(), 2U);
  EXPECT_EQ(pool->available(), 2);
  sequence.Truncate(16);
  EXPECT_EQ(sequence.pages().size(), 1U);
  EXPECT_EQ(pool->available(), 3);
}

TEST(SequenceKvTest, AFailedExtendChangesNothing) {
  auto pool = PagePool::Create(kShape, 2);
  ASSERT_TRUE(pool.has_value());
  SequenceKv sequence(*pool);
  ASSERT_TRUE(sequence.Extend(10).has_value());
  const auto extended = sequence.Extend(30);
  ASSERT_FALSE(extended.has_value());
  EXPECT_EQ(extended.error().kind, ErrorKind::kExhausted);
  EXPECT_EQ(sequence.size(), 10);
  EXPECT_EQ(pool->available(), 1);
}

TEST(SequenceKvTest, PagesGoBackAndDoNotOverlap) {
  auto pool = PagePool::Create(kShape, 3);
  ASSERT_TRUE(pool.has_value());
  {
    SequenceKv sequence(*pool);
    ASSERT_TRUE(sequence.Extend(48).has_value());
    std::set<std::uint16_t*> pages(sequence.pages().begin(), sequence.pages().end());
    EXPECT_EQ(pages.size(), 3U);
    for (std::uint16_t* page : pages) page[kShape.page_size() - 1] = 1;  // all of it is ours
  }
  EXPECT_EQ(pool->available(), 3);
}

}  // namespace
}  // namespace vivace
