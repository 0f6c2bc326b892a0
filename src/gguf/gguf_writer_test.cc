#include "gguf/gguf_writer.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing.h"
#include "gguf/gguf_file.h"
#include "gguf/testing.h"

namespace vivace {
namespace {

// Copies all that a file holds through a reader into a new writer.
GgufWriter CopyOf(const GgufFile& file) {
  GgufWriter writer;
  for (const auto& [key, value] : file.metadata()) writer.SetValue(key, value);
  for (const GgufTensor& tensor : file.tensors()) writer.AddTensor(tensor);
  return writer;
}

TEST(GgufWriter, WhatIsReadCanBeWrittenAgainWithoutLoss) {
  const std::vector<std::byte> bytes = *SmallFile().ToBytes();
  const GgufFile first = *GgufFile::Parse(bytes);
  // The copy has its keys in another order; a copy of the copy is the same.
  const std::vector<std::byte> copy = *CopyOf(first).ToBytes();
  const GgufFile second = *GgufFile::Parse(copy);
  EXPECT_EQ(*CopyOf(second).ToBytes(), copy);
  ASSERT_EQ(second.metadata().size(), first.metadata().size());
  for (const auto& [key, value] : first.metadata()) {
    const GgufValue& other = second.metadata().at(key);
    EXPECT_EQ(other.type, value.type) << key;
    EXPECT_EQ(other.element, value.element) << key;
    EXPECT_EQ(other.count, value.count) << key;
    EXPECT_TRUE(std::ranges::equal(other.bytes, value.bytes)) << key;
  }
  for (const GgufTensor& tensor : first.tensors()) {
    const GgufTensor* other = second.FindTensor(tensor.name);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->type, tensor.type);
    EXPECT_EQ(other->dims, tensor.dims);
    EXPECT_TRUE(std::ranges::equal(other->bytes, tensor.bytes));
  }
}

TEST(GgufWriter, AKeySetAgainHasTheNewValue) {
  GgufWriter writer;
  writer.Set("k", std::uint32_t{1});
  writer.Set("k", std::string_view("two"));
  const std::vector<std::byte> bytes = *writer.ToBytes();
  EXPECT_EQ(*GgufFile::Parse(bytes)->GetString("k"), "two");
}

TEST(GgufWriter, ACopyOfAnAlignedFileHasItsOwnAlignment) {
  const std::vector<std::byte> bytes = *SmallFile(4096).ToBytes();
  const std::vector<std::byte> copy = *CopyOf(*GgufFile::Parse(bytes)).ToBytes();
  EXPECT_LT(copy.size(), bytes.size());
  EXPECT_FALSE(GgufFile::Parse(copy)->Has("general.alignment"));
}

TEST(GgufWriter, WrongTensorsAreRefused) {
  const std::span<const std::byte> bytes(kTensorBytes);
  const auto refusal = [](const GgufTensor& tensor, int copies) {
    GgufWriter writer;
    for (int i = 0; i < copies; ++i) writer.AddTensor(tensor);
    const auto written = writer.ToBytes();
    return written ? "was written" : written.error().message;
  };
  EXPECT_EQ(refusal({.name = "w", .type = QuantType::kF32, .dims = {4}, .bytes = bytes}, 1),
            "tensor w has 128 bytes, its dimensions make 16");
  EXPECT_EQ(refusal({.name = "w", .type = QuantType::kF32, .dims = {32}, .bytes = bytes}, 2),
            "tensor w is given twice");
  EXPECT_EQ(refusal({.name = "w", .type = QuantType::kF32, .dims = {}, .bytes = bytes}, 1),
            "tensor w: 0 dimensions, allowed is 1 to 4");
  const std::string name(1025, 'x');
  EXPECT_NE(refusal({.name = name, .type = QuantType::kF32, .dims = {32}, .bytes = bytes}, 1)
                .find("a name of 1025 bytes"),
            std::string::npos);
}

class WrittenFile : public testing::Test {
 protected:
  std::size_t Files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(files_.root()), {}));
  }
  const FileTree files_{"gguf_writer"};
};

TEST_F(WrittenFile, IsTheBytesAndReplacesAnOlderOne) {
  const std::string path = files_.root() + "x.gguf";
  ASSERT_TRUE(GgufWriter().WriteFile(path));
  ASSERT_TRUE(SmallFile(128).WriteFile(path));
  const auto mapped = MappedFile::Open(path);
  ASSERT_TRUE(mapped);
  EXPECT_TRUE(std::ranges::equal(mapped->bytes(), *SmallFile(128).ToBytes()));
  EXPECT_EQ(Files(), 1U);
}

TEST_F(WrittenFile, NothingIsLeftBehindByAFailure) {
  const auto nowhere = SmallFile().WriteFile(files_.root() + "absent/x.gguf");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::kIo);
  // The place is taken by a folder: found out only when all is written.
  std::filesystem::create_directories(files_.root() + "taken/inner");
  const auto taken = SmallFile().WriteFile(files_.root() + "taken");
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("/taken: "), std::string::npos);
  EXPECT_EQ(Files(), 1U);
}

}  // namespace
}  // namespace vivace
