#include "gguf/gguf_file.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing.h"
#include "gguf/testing.h"

namespace vivace {
namespace {

class SmallGguf : public testing::Test {
 protected:
  const std::vector<std::byte> bytes_ = *SmallFile().ToBytes();
  const GgufFile file_ = *GgufFile::Parse(bytes_);
};

TEST_F(SmallGguf, IntegersOfEveryWidthAreReadWhereTheyFit) {
  EXPECT_EQ(*file_.GetU32("u8"), 200U);
  EXPECT_EQ(*file_.GetU32("u16"), 60000U);
  EXPECT_EQ(*file_.GetU32("u32"), 4000000000U);
  EXPECT_EQ(*file_.GetU64("u64"), std::uint64_t{1} << 40);
  EXPECT_FALSE(file_.GetU32("u64"));
  for (const char* negative : {"i8", "i16", "i32", "i64"}) {
    const auto value = file_.GetU64(negative);
    ASSERT_FALSE(value) << negative;
    EXPECT_EQ(value.error().kind, ErrorKind::kBadInput);
  }
}

TEST_F(SmallGguf, OtherScalars) {
  EXPECT_EQ(*file_.GetF32("f32"), 1.25F);
  EXPECT_EQ(*file_.GetF32("f64"), 2.5F);
  EXPECT_TRUE(*file_.GetBool("bool"));
  EXPECT_EQ(*file_.GetString("string"), "caf\xc3\xa9");
}

TEST_F(SmallGguf, MissingAndMistypedKeysAreToldApart) {
  EXPECT_EQ(file_.GetU32("absent").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(file_.GetU32("absent").error().message, "absent is missing");
  EXPECT_EQ(file_.GetU32("f32").error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(file_.GetString("u8").error().message, "u8 is u8, expected string");
  EXPECT_FALSE(file_.GetBool("u8"));
  EXPECT_FALSE(file_.GetF32("u32"));
  EXPECT_FALSE(file_.GetStrings("string"));
  EXPECT_FALSE(file_.GetStrings("nested"));
}

TEST_F(SmallGguf, ArraysKeepTheirElementType) {
  EXPECT_EQ(*file_.GetArray<std::int32_t>("numbers"), (std::vector<std::int32_t>{3, -4, 5}));
  EXPECT_EQ(*file_.GetArray<float>("scores"), (std::vector<float>{0.5F, -1}));
  EXPECT_EQ(*file_.GetStrings("tokens"), (std::vector<std::string_view>{"a", "", "long token"}));
  const auto wrong = file_.GetArray<float>("numbers");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "numbers is array of i32, expected array of f32");
  EXPECT_FALSE(file_.GetArray<double>("scores"));
  EXPECT_FALSE(file_.GetArray<std::int64_t>("numbers"));
  EXPECT_FALSE(file_.GetArray<std::int32_t>("i32"));
}

TEST_F(SmallGguf, ArraysOfTheOtherSignednessAreReadWhereAllFit) {
  EXPECT_EQ(*file_.GetArray<std::uint32_t>("large"), (std::vector<std::uint32_t>{1, 0x80000000U}));
  EXPECT_FALSE(file_.GetArray<std::int32_t>("large"));
  EXPECT_FALSE(file_.GetArray<std::uint32_t>("numbers"));
}

TEST_F(SmallGguf, TensorsAreViewsOfTheBytes) {
  EXPECT_EQ(file_.tensors().size(), 2U);
  const GgufTensor* matrix = file_.FindTensor("matrix");
  ASSERT_NE(matrix, nullptr);
  EXPECT_EQ(matrix->type, QuantType::kQ4_0);
  EXPECT_EQ(matrix->dims, (std::vector<std::uint64_t>{64, 3}));
  EXPECT_EQ(matrix->bytes.size(), 108U);
  EXPECT_EQ(matrix->bytes[1], std::byte{2});
  EXPECT_GE(matrix->bytes.data(), bytes_.data());
  EXPECT_EQ((matrix->bytes.data() - bytes_.data()) % 32, 0);
  EXPECT_EQ(file_.FindTensor("absent"), nullptr);
}

TEST(GgufFile, Version2AndTheAlignmentOfTheFile) {
  std::vector<std::byte> bytes = *SmallFile(256).ToBytes();
  bytes[4] = std::byte{2};
  const auto file = GgufFile::Parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->version(), 2U);
  EXPECT_EQ((file->FindTensor("matrix")->bytes.data() - bytes.data()) % 256, 0);
  EXPECT_TRUE(file->warnings().empty());
}

TEST(GgufFile, AnAlignmentThatIsNoIntegerIsWarnedAboutAndIgnored) {
  RawBytes raw;
  raw.Header(0, 1).Text("general.alignment").Type(GgufType::kString).Text("64");
  const auto file = GgufFile::Parse(raw.bytes());
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->warnings().size(), 1U);
  EXPECT_EQ(file->warnings()[0], "general.alignment is string, expected u32; 32 is used");
}

// A folder of its own that goes with the test.
class SplitGguf : public testing::Test {
 protected:
  std::string Part(int number) const {
    return files_.root() + "tiny-0000" + std::to_string(number) + "-of-00002.gguf";
  }
  // A file with one tensor; `count` and `tensors` are what it says of the whole.
  static void Write(const std::string& path, std::string_view tensor, std::uint16_t count,
                    std::int32_t tensors) {
    GgufWriter writer;
    writer.Set("split.count", count);
    writer.Set("split.tensors.count", tensors);
    writer.Set("only." + std::string(tensor), true);
    writer.AddTensor({.name = tensor,
                      .type = QuantType::kF32,
                      .dims = {2},
                      .bytes = std::span(kTensorBytes).first(8)});
    ASSERT_TRUE(writer.WriteFile(path));
  }

  const FileTree files_{"gguf_split"};
};

TEST_F(SplitGguf, TheFirstPartOpensAll) {
  Write(Part(1), "one", 2, 2);
  Write(Part(2), "two", 2, 2);
  const auto file = GgufFile::Open(Part(1));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensors().size(), 2U);
  EXPECT_EQ(file->FindTensor("two")->bytes[1], std::byte{2});
  EXPECT_TRUE(file->Has("only.one"));
  EXPECT_TRUE(file->Has("only.two"));
}

TEST_F(SplitGguf, AMissingPartIsNamed) {
  Write(Part(1), "one", 2, 2);
  const auto file = GgufFile::Open(Part(1));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(file.error().message.find("tiny-00002-of-00002.gguf"), std::string::npos);
}

TEST_F(SplitGguf, AnotherPartThanTheFirstAsksForTheFirst) {
  Write(Part(2), "two", 2, 2);
  const auto file = GgufFile::Open(Part(2));
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("-00001-of-00002.gguf"), std::string::npos);
}

TEST_F(SplitGguf, TensorsInTwoPartsAndWrongTotalsAreErrors) {
  Write(Part(1), "one", 2, 2);
  Write(Part(2), "one", 2, 2);
  EXPECT_FALSE(GgufFile::Open(Part(1)));
  Write(Part(2), "two", 2, 2);
  Write(Part(1), "one", 2, 3);
  const auto file = GgufFile::Open(Part(1));
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("split.tensors.count is 3"), std::string::npos);
}

TEST(RealGguf, EveryModelOfTheTestFolderIsRead) {
  const char* folder = std::getenv("VIVACE_TEST_MODELS");
  if (folder == nullptr) GTEST_SKIP() << "VIVACE_TEST_MODELS is not set";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    const auto file = GgufFile::Open(entry.path().string());
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_TRUE(file->GetString("general.architecture")) << entry.path();
    EXPECT_GT(file->GetStrings("tokenizer.ggml.tokens")->size(), 1000U);
    EXPECT_NE(file->FindTensor("token_embd.weight"), nullptr);
  }
}

}  // namespace
}  // namespace vivace
