#include "base/mapped_file.h"

#include <cstdio>
#include <fstream>

#include "gtest/gtest.h"

namespace vivace {
namespace {

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(MappedFileTest, ShowsTheBytes) {
  const auto file = MappedFile::Open(Write("mapped_file_text", "vivace"));
  ASSERT_TRUE(file.has_value());
  ASSERT_EQ(file->size(), 6U);
  EXPECT_EQ(file->bytes()[0], std::byte{'v'});
}

TEST(MappedFileTest, AnEmptyFileIsEmptyBytes) {
  const auto file = MappedFile::Open(Write("mapped_file_empty", ""));
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFileTest, NamesThePathThatIsMissing) {
  const auto file = MappedFile::Open("/nonexistent/model.gguf");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(file.error().message, "/nonexistent/model.gguf: No such file or directory");
}

TEST(MappedFileTest, AFolderIsNotAFile) {
  EXPECT_EQ(MappedFile::Open("/").error().kind, ErrorKind::kBadInput);
}

TEST(MappedFileTest, MovingHandsOverTheMapping) {
  auto first = MappedFile::Open(Write("mapped_file_move", "abc"));
  ASSERT_TRUE(first.has_value());
  MappedFile second = std::move(*first);
  EXPECT_EQ(second.size(), 3U);
}

}  // namespace
}  // namespace vivace
