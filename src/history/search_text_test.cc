#include "history/search_text.h"

#include <gtest/gtest.h>

namespace vivace {
namespace {

TEST(SearchText, CaseAndWidthDoNotMatter) {
  EXPECT_EQ(FoldForSearch("Straße"), FoldForSearch("STRASSE"));
  EXPECT_EQ(FoldForSearch("ＡＢＣ１２"), "abc12");
  EXPECT_EQ(FoldForSearch("Cafe\u0301"), FoldForSearch("CAFÉ"));
  EXPECT_EQ(FoldForSearch("北京的天气"), "北京的天气");
}

TEST(SearchText, AnyBytesCanBeFolded) {
  EXPECT_EQ(FoldForSearch(""), "");
  EXPECT_EQ(FoldForSearch("\xff\xfe"), "\xff\xfe");
  EXPECT_EQ(FoldForSearch(std::string("a\0B", 3)), std::string("a\0b", 3));
}

TEST(SearchText, WordsAreCutAtSpacesOfAnyWidth) {
  EXPECT_EQ(WordsOf("  Hello　北京\tX "), (std::vector<std::string>{"hello", "北京", "x"}));
  EXPECT_TRUE(WordsOf(" \n").empty());
}

}  // namespace
}  // namespace vivace
