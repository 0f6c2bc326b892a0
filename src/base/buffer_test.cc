#include "base/buffer.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(BufferTest, IsZeroedAndAligned) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, std::size_t{3} << 20}) {
    auto buffer = Buffer::Allocate(bytes, HugePages::kYes);
    ASSERT_TRUE(buffer.has_value());
    const std::size_t alignment = bytes >= (std::size_t{2} << 20) ? std::size_t{2} << 20 : 4096;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % alignment, 0U);
    EXPECT_EQ(buffer->As<char>()[0], 0);
    EXPECT_EQ(buffer->As<char>()[bytes - 1], 0);
    buffer->As<char>()[bytes - 1] = 1;
  }
}

TEST(BufferTest, MovingHandsOverTheMemory) {
  auto first = Buffer::Allocate(100, HugePages::kNo);
  ASSERT_TRUE(first.has_value());
  first->As<int>()[3] = 7;
  const std::byte* data = first->data();
  Buffer second = std::move(*first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.As<int>()[3], 7);
}

TEST(BufferTest, TooMuchIsAnError) {
  const auto buffer = Buffer::Allocate(SIZE_MAX, HugePages::kNo);
  ASSERT_FALSE(buffer.has_value());
  EXPECT_EQ(buffer.error().kind, ErrorKind::kExhausted);
}

}  // namespace
}  // namespace vivace
