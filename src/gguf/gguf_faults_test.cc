// Files that are wrong on purpose: each gives one clear line, and nothing else happens.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gguf/gguf_file.h"
#include "gguf/testing.h"

namespace vivace {
namespace {

// The error of a file that must not be read; one line of printable text.
std::string Refusal(const RawBytes& raw) {
  const auto file = GgufFile::Parse(raw.bytes());
  if (file) return "was read";
  for (const char c : file.error().message) EXPECT_TRUE(c >= 0x20 && c <= 0x7e);
  return file.error().message;
}

// A file with one tensor entry, and zeros for its data.
struct TensorEntry {
  std::vector<std::uint64_t> dims = {32};
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::string name = "w";
};
RawBytes OneTensor(const TensorEntry& entry, std::uint64_t copies = 1) {
  RawBytes raw;
  raw.Header(copies, 0);
  for (std::uint64_t copy = 0; copy < copies; ++copy) {
    raw.Text(entry.name).U32(static_cast<std::uint32_t>(entry.dims.size()));
    for (const std::uint64_t dim : entry.dims) raw.U64(dim);
    raw.U32(entry.type).U64(entry.offset);
  }
  return raw.Zeros(1024);
}

RawBytes AlignmentOf(GgufType type, std::int64_t alignment) {
  RawBytes raw;
  raw.Header(1, 1).Text("general.alignment").Type(type);
  if (GgufTypeSize(type) == 8) {
    raw.Number(alignment);
  } else {
    raw.Number(static_cast<std::int32_t>(alignment));
  }
  return raw.Text("w").U32(1).U64(8).U32(0).U64(0).Zeros(1024);
}

TEST(GgufFaults, EveryPrefixOfAValidFileIsRefused) {
  const std::vector<std::byte> whole = *SmallFile().ToBytes();
  ASSERT_TRUE(GgufFile::Parse(whole));
  // The last 20 bytes pad the last tensor: nothing needs them.
  for (std::size_t size = 0; size < whole.size() - 20; ++size) {
    // A copy of its own, so that a read past the end shows under the address sanitizer.
    const std::vector<std::byte> prefix(whole.begin(),
                                        whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto file = GgufFile::Parse(prefix);
    ASSERT_FALSE(file) << size;
    ASSERT_FALSE(file.error().message.empty());
  }
}

TEST(GgufFaults, OneChangedByteNeverDoesHarm) {
  std::vector<std::byte> bytes = *SmallFile().ToBytes();
  int refused = 0;
  for (std::byte& byte : bytes) {
    for (const int change : {0x01, 0x80, 0xff}) {
      byte ^= static_cast<std::byte>(change);
      const auto file = GgufFile::Parse(bytes);
      if (!file) ++refused;
      if (file) file->GetStrings("tokens").value_or(std::vector<std::string_view>());
      byte ^= static_cast<std::byte>(change);
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(GgufFaults, NotAGgufFile) {
  EXPECT_EQ(Refusal(RawBytes()), "not a GGUF file");
  EXPECT_EQ(Refusal(RawBytes().Plain("ggjt is another format")), "not a GGUF file");
}

TEST(GgufFaults, VersionsThatAreNotRead) {
  EXPECT_EQ(Refusal(RawBytes().Header(0, 0, 1)),
            "GGUF version 1, allowed is 2 or 3, little-endian");
  EXPECT_EQ(Refusal(RawBytes().Header(0, 0, 0x03000000)),
            "GGUF version 50331648, allowed is 2 or 3, little-endian");
}

TEST(GgufFaults, CountsBeyondTheFileAreRefusedBeforeAnythingIsAllocated) {
  const auto expected = "18446744073709551615 keys and 0 tensors in a file of 24 bytes";
  EXPECT_EQ(Refusal(RawBytes().Header(0, UINT64_MAX)), expected);
  for (const std::uint64_t tensors : {std::uint64_t{1} << 31, std::uint64_t{1} << 63, UINT64_MAX}) {
    EXPECT_NE(Refusal(RawBytes().Header(tensors, 0).Zeros(64)).find("tensors in a file of 88"),
              std::string::npos);
  }
}

TEST(GgufFaults, AnArrayOf2To63ElementsInAFileOf43Bytes) {
  RawBytes raw;
  raw.Header(0, 1).Text("k").Type(GgufType::kArray).Plain(std::string_view("\4\0\0\0", 4));
  // 24 + 9 + 4 + 4 bytes so far; two of the count's are left: the file ends inside it.
  EXPECT_EQ(Refusal(RawBytes(raw).Zeros(2)), "k: 8 bytes wanted at offset 41, the file has 2 more");
  EXPECT_EQ(Refusal(RawBytes(raw).U64(std::uint64_t{1} << 63)),
            "k: an array of 9223372036854775808 u32 at offset 49, the file has 0 more bytes");
  RawBytes strings;
  strings.Header(0, 1).Text("k").Type(GgufType::kArray).Type(GgufType::kString);
  EXPECT_NE(Refusal(strings.U64(UINT64_MAX).Zeros(80)).find("an array of 18446744073709551615"),
            std::string::npos);
}

TEST(GgufFaults, StringsBeyondTheFile) {
  RawBytes raw;
  raw.Header(0, 1).Text("k").Type(GgufType::kString).U64(UINT64_MAX).Zeros(16);
  EXPECT_NE(Refusal(raw).find("k: a string of 18446744073709551615 bytes"), std::string::npos);
  RawBytes key;
  key.Header(0, 1).U64(1025).Zeros(2000);
  EXPECT_EQ(Refusal(key), "key 0: a string of 1025 bytes at offset 32, allowed is 1024");
}

TEST(GgufFaults, DeeplyNestedArrays) {
  RawBytes raw;
  raw.Header(0, 1).Text("k").Type(GgufType::kArray);
  for (int depth = 0; depth < 100000; ++depth) raw.Type(GgufType::kArray).U64(1);
  EXPECT_NE(Refusal(raw).find("arrays nested 5 deep"), std::string::npos);
}

TEST(GgufFaults, UnknownValueTypes) {
  RawBytes raw;
  raw.Header(0, 1).Text("k").U32(13).Zeros(16);
  EXPECT_EQ(Refusal(raw), "k: value type 13 at offset 33, allowed is 0 to 12");
}

TEST(GgufFaults, KeysAndTensorsAppearOnce) {
  RawBytes raw;
  raw.Header(0, 2);
  for (int i = 0; i < 2; ++i) raw.Text("k").Type(GgufType::kU8).Plain("x");
  EXPECT_EQ(Refusal(raw), "key k appears twice");
  EXPECT_EQ(Refusal(OneTensor({}, 2)), "tensor w appears twice");
}

TEST(GgufFaults, SizesThatWrapWhenMultiplied) {
  constexpr std::uint64_t kHuge = (std::uint64_t{1} << 42) + 1;
  EXPECT_EQ(Refusal(OneTensor({.dims = {32, kHuge}})),
            "tensor w has 562949953421440 bytes at 0, the file has 993 bytes of data");
  EXPECT_NE(Refusal(OneTensor({.dims = {32, kHuge, kHuge}})).find("tensor w: dimension"),
            std::string::npos);
  EXPECT_NE(Refusal(OneTensor({.dims = {UINT64_MAX}})).find("dimension 18446744073709551615"),
            std::string::npos);
  EXPECT_NE(Refusal(OneTensor({.dims = {std::uint64_t{1} << 32, std::uint64_t{1} << 32}}))
                .find("tensor w: dimension"),
            std::string::npos);
}

TEST(GgufFaults, DimensionsAreOneToFourAndNotZero) {
  EXPECT_EQ(Refusal(OneTensor({.dims = {}})), "tensor w: 0 dimensions, allowed is 1 to 4");
  EXPECT_EQ(Refusal(OneTensor({.dims = {1, 1, 1, 1, 1}})),
            "tensor w: 5 dimensions, allowed is 1 to 4");
  EXPECT_NE(Refusal(OneTensor({.dims = {32, 0}})).find("dimension 0"), std::string::npos);
  RawBytes raw;
  raw.Header(1, 0).Text("w").U32(UINT32_MAX).Zeros(1024);
  EXPECT_EQ(Refusal(raw), "tensor w: 4294967295 dimensions, allowed is 1 to 4");
}

TEST(GgufFaults, UnknownQuantTypesNameTensorAndNumber) {
  EXPECT_NE(Refusal(OneTensor({.type = 4})).find("tensor w: quant type 4 is unknown"),
            std::string::npos);
  EXPECT_NE(Refusal(OneTensor({.type = UINT32_MAX})).find("4294967295"), std::string::npos);
}

TEST(GgufFaults, RowsAreWholeBlocks) {
  EXPECT_EQ(Refusal(OneTensor({.dims = {48}, .type = 2})),
            "tensor w: a row of 48 values in Q4_0, allowed is a multiple of 32");
}

TEST(GgufFaults, OffsetsAreAlignedAndInsideTheFile) {
  EXPECT_EQ(Refusal(OneTensor({.offset = 8})), "tensor w starts at 8, allowed is a multiple of 32");
  EXPECT_NE(Refusal(OneTensor({.offset = 1024})).find("tensor w has 128 bytes at 1024"),
            std::string::npos);
  EXPECT_NE(Refusal(OneTensor({.offset = UINT64_MAX - 31})).find("tensor w has 128 bytes"),
            std::string::npos);
}

TEST(GgufFaults, AlignmentsThatAreNoPowerOfTwoOrTooLarge) {
  EXPECT_TRUE(GgufFile::Parse(AlignmentOf(GgufType::kI32, 64).bytes()));
  EXPECT_EQ(Refusal(AlignmentOf(GgufType::kU32, 0)),
            "general.alignment is 0, allowed are the powers of two up to 1048576");
  EXPECT_NE(Refusal(AlignmentOf(GgufType::kU32, 48)).find("is 48"), std::string::npos);
  EXPECT_NE(Refusal(AlignmentOf(GgufType::kU32, -1)).find("is 4294967295"), std::string::npos);
  EXPECT_NE(Refusal(AlignmentOf(GgufType::kI32, -32)).find("is negative"), std::string::npos);
  EXPECT_NE(Refusal(AlignmentOf(GgufType::kU64, -1)).find("is 18446744073709551615"),
            std::string::npos);
  // Allowed, but the data would start beyond the file's end.
  EXPECT_NE(Refusal(AlignmentOf(GgufType::kU32, 1 << 20)).find("the file has 0 bytes of data"),
            std::string::npos);
}

TEST(GgufFaults, ScoresDeclaredAsBytesAreNotReadAsFloats) {
  RawBytes raw;
  raw.Header(0, 1).Text("tokenizer.ggml.scores").Type(GgufType::kArray).Type(GgufType::kU8);
  raw.U64(4).Zeros(4);
  const auto file = GgufFile::Parse(raw.bytes());
  ASSERT_TRUE(file) << file.error().message;
  const auto scores = file->GetArray<float>("tokenizer.ggml.scores");
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().message, "tokenizer.ggml.scores is array of u8, expected array of f32");
}

TEST(GgufFaults, NamesFromTheFileCannotBreakTheLine) {
  EXPECT_EQ(Refusal(OneTensor({.type = 4, .name = "a\nb\x1b[0m\xff"})).substr(0, 18),
            "tensor a?b?[0m?: q");
  const std::string longest(1024, 'x');
  EXPECT_LT(Refusal(OneTensor({.dims = {}, .name = longest})).size(), 150U);
}

}  // namespace
}  // namespace vivace
