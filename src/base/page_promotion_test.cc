#include "base/page_promotion.h"

#include <cstdlib>
#include <fstream>
#include <vector>

#include "gtest/gtest.h"

#include "base/mapped_file.h"

namespace vivace {
namespace {

std::string FileOf(std::size_t size) {
  std::string path = testing::TempDir() + "/page_promotion_test";
  std::ofstream file(path, std::ios::binary);
  std::vector<char> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 4096);
  // In small pieces: on some systems large ones would give huge pages at once.
  for (std::size_t i = 0; i < size; i += 4096) file.write(bytes.data() + i, 4096);
  return path;
}

TEST(PagePromotionTest, KeepsEveryByteUnderItsAddress) {
  const std::size_t size = std::size_t{96} << 20;
  const auto file = *MappedFile::Open(FileOf(size));
  const std::span<const std::byte> bytes = file.bytes().subspan(4096 * 3);
  PagePromotion promotion(bytes);
  int steps = 0;
  while (promotion.Step()) ++steps;
  EXPECT_LE(promotion.promoted_bytes(), size);
  EXPECT_LE(steps, 24);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t at = i + 4096 * 3;
    ASSERT_EQ(bytes[i], static_cast<std::byte>(at * 7 + at / 4096)) << "at " << at;
  }
  EXPECT_FALSE(promotion.Step()) << "done stays done";
}

TEST(PagePromotionTest, LeavesSmallFilesAlone) {
  const auto file = *MappedFile::Open(FileOf(std::size_t{1} << 20));
  PagePromotion promotion(file.bytes());
  EXPECT_FALSE(promotion.Step());
  EXPECT_EQ(promotion.promoted_bytes(), 0U);
}

}  // namespace
}  // namespace vivace
