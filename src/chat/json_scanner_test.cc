#include "chat/json_scanner.h"

#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "chat/json_input.h"

namespace vivace {
namespace {

using Step = JsonScanner::Step;

// Whether all of it can stand there and is a complete object or array.
bool Accepts(std::string_view text) {
  JsonScanner scanner;
  bool ended = false;
  for (const char c : text) {
    if (scanner.Push(c) == Step::kWrong) return false;
    ended = scanner.depth() == 0 && scanner.Closers().has_value();
  }
  return ended;
}

TEST(JsonScanner, AcceptsJson) {
  for (const std::string_view text :
       {"{}", "[]", R"({"a":1,"b":[true,false,null],"c":{"d":"e"}})", R"([-1.5e+3 , "x" ] )",
        "[\n [ ] ,\t{ } ]", R"(["\"\\\/\b\f\n\r\té"])", R"({"":""})", R"(["#{}[],:"])"}) {
    EXPECT_TRUE(Accepts(text)) << text;
  }
}

TEST(JsonScanner, RefusesTheRest) {
  for (const std::string_view text : {"{",           "}",       "{]",        "[}",
                                      "{1:2}",       "{'a':1}", R"({"a"})",  R"({"a":})",
                                      R"({"a":1,})", "[1,]",    "[,]",       "[1 2]",
                                      "[01]",        "[1.]",    "[+1]",      "[tru]",
                                      "[True]",      "[NaN]",   R"(["\x"])", R"(["\u12g4"])",
                                      "[\"\n\"]",    "{} {}",   "[1]]",      R"({"a":1 "b":2})",
                                      R"({"a" 1})"}) {
    EXPECT_FALSE(Accepts(text)) << text;
  }
  EXPECT_TRUE(Accepts(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(Accepts(std::string(65, '[') + std::string(65, ']')));
}

TEST(JsonScanner, AgreesWithTheParser) {
  constexpr std::string_view kLetters = R"({}[]",:\ 1-.eutrue)";
  std::mt19937 random(1);
  int accepted = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text = random() % 2 == 0 ? "[" : "{";
    for (auto length = random() % 8; length > 0; --length) {
      text += kLetters[random() % kLetters.size()];
    }
    text += text.front() == '[' ? "]" : "}";
    ASSERT_EQ(Accepts(text), Json::accept(text)) << text;
    accepted += Accepts(text) ? 1 : 0;
  }
  EXPECT_GT(accepted, 100);
}

TEST(JsonScanner, TellsKeysAndTextsOfTheOutermostObject) {
  JsonScanner scanner;
  std::string told;
  for (const char c : std::string_view(R"({"a":"b\"","c":{"d":"e"},"f":["g"]})")) {
    const Step step = scanner.Push(c);
    if (step == Step::kKeyEnd && scanner.depth() == 1) told += scanner.last_string() + "=";
    if (step == Step::kStringEnd && scanner.depth() == 1) told += scanner.last_string() + ";";
  }
  EXPECT_EQ(told, R"(a=b\";c=f=)");
}

TEST(JsonScanner, KnowsWhatIsMissing) {
  const auto closers = [](std::string_view text) {
    JsonScanner scanner;
    for (const char c : text) scanner.Push(c);
    return scanner.Closers().value_or("?");
  };
  EXPECT_EQ(closers("{"), "}");
  EXPECT_EQ(closers(R"({"a":[{)"), "}]}");
  EXPECT_EQ(closers(R"({"a":1)"), "}");
  EXPECT_EQ(closers(R"({"a":1})"), "");
  for (const std::string_view text :
       {R"({"a)", R"({"a")", R"({"a":)", R"({"a":"b)", R"({"a":1,)", R"({"a":tr)", ""}) {
    EXPECT_EQ(closers(text), "?") << text;
  }
}

TEST(CompletedObject, KeepsWhatHasEnded) {
  EXPECT_EQ(CompletedObject(R"({"a": 1, "b": "unfin)"), R"({"a": 1})");
  EXPECT_EQ(CompletedObject(R"({"a": 1, "b": 12)"), R"({"a": 1})");
  EXPECT_EQ(CompletedObject(R"({"a": 12)"), "{}");
  EXPECT_EQ(CompletedObject(R"({"a": {"b": [1, 2, {"c": "d"}, "e)"),
            R"({"a": {"b": [1, 2, {"c": "d"}]}})");
  EXPECT_EQ(CompletedObject(R"({"a": True})"), "{}");
  EXPECT_EQ(CompletedObject(R"({"a": 1})"), R"({"a": 1})");
  for (const char* text : {"", "  ", "x", "5", "[1", "\"a\""})
    EXPECT_EQ(CompletedObject(text), "{}");
}

}  // namespace
}  // namespace vivace
