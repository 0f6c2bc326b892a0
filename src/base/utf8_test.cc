#include "base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace vivace {
namespace {

std::string Repaired(std::string_view text) {
  std::string out;
  EXPECT_EQ(AppendRepaired(text, false, out), 0U);
  return out;
}

TEST(Utf8, EveryCharacterComesBack) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    AppendUtf8(c, text);
    const Utf8Char read = DecodeUtf8(text, 0);
    ASSERT_EQ(read.status, Utf8Status::kValid) << static_cast<std::uint32_t>(c);
    ASSERT_EQ(read.code_point, c);
    ASSERT_EQ(read.length, text.size());
  }
}

TEST(Utf8, RefusesWhatIsNoCharacter) {
  EXPECT_FALSE(IsValidUtf8("\xC0\x80"));          // overlong
  EXPECT_FALSE(IsValidUtf8("\xE0\x9F\xBF"));      // overlong
  EXPECT_FALSE(IsValidUtf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(IsValidUtf8("\xF4\x90\x80\x80"));  // beyond the last
  EXPECT_FALSE(IsValidUtf8("\x80"));
  EXPECT_FALSE(IsValidUtf8("a\xE4\xBD"));
  EXPECT_TRUE(IsValidUtf8("a\xE4\xBD\xA0"));
}

// The examples of the Unicode Standard 15, tables 3-8 to 3-11.
TEST(Utf8, RepairsByMaximalSubparts) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(Repaired("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(Repaired("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(Repaired("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            r + r + r + r + r + "A" + r + r + "B");
  EXPECT_EQ(Repaired("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r + r + r + r + "A");
}

TEST(Utf8, KeepsAnIncompleteTail) {
  std::string out;
  EXPECT_EQ(AppendRepaired("a\xF0\x9F\x98", true, out), 3U);
  EXPECT_EQ(out, "a");
  EXPECT_EQ(AppendRepaired("\xF0\x9F\x41", true, out), 0U);
  EXPECT_EQ(out,
            "a\xEF\xBF\xBD"
            "A");
}

}  // namespace
}  // namespace vivace
