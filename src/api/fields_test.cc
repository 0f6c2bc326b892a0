#include "api/fields.h"

#include <gtest/gtest.h>

namespace vivace {
namespace {

std::string ErrorOf(const Fields& fields) {
  const auto status = fields.status();
  return status ? "" : status.error().message;
}

TEST(Fields, NullIsAbsent) {
  const Json json = {{"a", nullptr}};
  Fields fields(json);
  EXPECT_FALSE(fields.Has("a"));
  EXPECT_EQ(fields.Integer("a", 7), 7);
  EXPECT_EQ(fields.Text("a", "x"), "x");
  EXPECT_TRUE(fields.Bool("a", true));
  EXPECT_TRUE(fields.Texts("a").empty());
  EXPECT_EQ(fields.Object("a"), nullptr);
  EXPECT_EQ(ErrorOf(fields), "");
}

TEST(Fields, WholeNumbersMayBeWrittenAsFloats) {
  const Json json = {{"a", 4.0}, {"b", -3}, {"c", 18446744073709551615U}, {"d", 1.5}, {"e", 1e300}};
  Fields fields(json);
  EXPECT_EQ(fields.Integer("a", 0), 4);
  EXPECT_EQ(fields.Integer("b", 0), -3);
  EXPECT_EQ(ErrorOf(fields), "");
  for (const char* name : {"c", "d", "e"}) {
    Fields wrong(json);
    EXPECT_EQ(wrong.Integer(name, 9), 9);
    EXPECT_NE(ErrorOf(wrong).find("expected a whole number"), std::string::npos);
  }
}

TEST(Fields, RangesAreNamed) {
  const Json json = {{"n", -2}, {"x", 3.5}};
  Fields fields(json, "options.");
  EXPECT_EQ(fields.Integer("n", 1, -1, 10), 1);
  EXPECT_EQ(ErrorOf(fields), "options.n: -2 is out of range, allowed is -1 to 10");
  Fields second(json);
  EXPECT_EQ(second.Number("x", 0, 0, 1), 0);
  EXPECT_EQ(ErrorOf(second), "x: 3.5 is out of range, allowed is 0 to 1");
}

TEST(Fields, TheFirstWrongFieldStays) {
  const Json json = {{"a", "x"}, {"b", 5}};
  Fields fields(json);
  EXPECT_FALSE(fields.Bool("a", false));
  EXPECT_EQ(fields.Text("b"), "");
  EXPECT_EQ(ErrorOf(fields), "a: expected true or false, got string \"x\"");
}

TEST(Fields, TextsAreOneOrMany) {
  const Json json = {{"one", "a"}, {"many", {"a", "", "b"}}, {"wrong", {"a", 5}}, {"no", 5}};
  Fields fields(json);
  EXPECT_EQ(fields.Texts("one"), std::vector<std::string>({"a"}));
  EXPECT_EQ(fields.Texts("many"), std::vector<std::string>({"a", "b"}));
  EXPECT_EQ(ErrorOf(fields), "");
  (void)fields.Texts("wrong");
  EXPECT_EQ(ErrorOf(fields), "wrong: expected a string or an array of strings, got number 5");
}

TEST(Fields, StructuresAreNotShown) {
  const Json json = {{"a", Json::array({1, 2, 3})}};
  Fields fields(json);
  EXPECT_EQ(fields.Object("a"), nullptr);
  EXPECT_EQ(ErrorOf(fields), "a: expected an object, got array");
}

}  // namespace
}  // namespace vivace
