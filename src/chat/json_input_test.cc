#include "chat/json_input.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace vivace {
namespace {

TEST(ParseJson, KeepsTheOrderOfKeys) {
  const std::string text = R"({"z":1,"a":[{"y":null,"b":true}],"m":{"k":-2,"c":0.5}})";
  const auto value = ParseJson(text);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->dump(), text);
}

TEST(ParseJson, TheLastOfEqualKeysCounts) {
  EXPECT_EQ(ParseJson(R"({"a":1,"b":[1],"a":{"c":[2,[3]]}})")->dump(),
            R"({"a":{"c":[2,[3]]},"b":[1]})");
}

TEST(ParseJson, ReadsScalars) {
  EXPECT_EQ(ParseJson("18446744073709551615")->get<std::uint64_t>(), 18446744073709551615U);
  EXPECT_EQ(ParseJson("-9223372036854775808")->dump(), "-9223372036854775808");
  EXPECT_EQ(ParseJson(R"("\u00fc\ud83d\ude00")")->get<std::string>(), "ü😀");
}

TEST(ParseJson, SaysWhereTheSyntaxIsWrong) {
  for (const std::string text : {"", "{", "[1,]", "{\"a\":1,}", "nul", "1 2", "{\"a\" 1}",
                                 "\"\xff\"", "\"\\ud800\"", "[1e999]"}) {
    const auto value = ParseJson(text);
    ASSERT_FALSE(value.has_value()) << text;
    EXPECT_EQ(value.error().kind, ErrorKind::kBadInput);
    EXPECT_EQ(value.error().message.rfind("not valid JSON at byte ", 0), 0U)
        << value.error().message;
  }
}

TEST(ParseJson, LimitsNesting) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  const auto deepest = ParseJson(nested(kMaxJsonDepth));
  ASSERT_TRUE(deepest.has_value());
  EXPECT_TRUE(NestsWithin(*deepest));
  EXPECT_FALSE(NestsWithin(Json::array({*deepest})));
  for (const int depth : {kMaxJsonDepth + 1, 1'000'000}) {
    const auto value = ParseJson(nested(depth));
    ASSERT_FALSE(value.has_value());
    EXPECT_EQ(value.error().message, "values nest deeper than 64");
  }
}

TEST(ParseJson, LimitsTheKeysOfOneObject) {
  const auto with_keys = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += fmt::format("{}\"k{}\":0", i ? "," : "", i);
    return "{" + text + "}";
  };
  EXPECT_EQ(ParseJson(with_keys(kMaxJsonKeys))->size(), kMaxJsonKeys);
  EXPECT_EQ(ParseSortedJson(with_keys(20'000))->size(), 20'000U);
  const auto value = ParseJson(with_keys(kMaxJsonKeys + 1));
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().message, "an object has more than 1024 keys");
}

}  // namespace
}  // namespace vivace
