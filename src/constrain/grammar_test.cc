#include "constrain/grammar.h"

#include <regex>
#include <thread>

#include "gtest/gtest.h"

#include "constrain/testing.h"

namespace vivace {
namespace {

class GrammarTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!GrammarCompiler::Available()) GTEST_SKIP();
  }
  static GrammarSource Schema(std::string text) { return {.text = std::move(text)}; }
  static GrammarSource Regex(std::string text) {
    return {.kind = GrammarKind::kRegex, .text = std::move(text)};
  }
  static GrammarSource Lark(std::string text) {
    return {.kind = GrammarKind::kLark, .text = std::move(text)};
  }
};

TEST_F(GrammarTest, SchemasBind) {
  const auto grammar = MustCompile(Schema(R"({"type": "object", "properties": {
      "name": {"type": "string", "maxLength": 5}, "age": {"type": "integer", "minimum": 0}},
      "required": ["name", "age"], "additionalProperties": false})"));
  EXPECT_TRUE(Accepts(grammar, R"({"name": "Ann", "age": 41})"));
  EXPECT_TRUE(Accepts(grammar, R"({"name": "\u00e4\n#", "age": 0})"));
  EXPECT_FALSE(Accepts(grammar, R"({"name": "Annabel", "age": 41})"));
  EXPECT_FALSE(Accepts(grammar, R"({"name": "Ann", "age": -1})"));
  EXPECT_FALSE(Accepts(grammar, R"({"name": "Ann"})"));
  EXPECT_FALSE(Accepts(grammar, R"({"name": "Ann", "age": 41} )"));
}

TEST_F(GrammarTest, ReferencesAndBoundsOfAnySize) {
  const auto color = MustCompile(
      Schema(R"({"$ref": "#/$defs/Color", "$defs": {"Color": {"enum": ["red", "green"]}}})"));
  EXPECT_TRUE(Accepts(color, "\"red\""));
  EXPECT_FALSE(Accepts(color, "{}"));
  const auto empty =
      MustCompile(Schema(R"({"type": "object", "properties": {}, "additionalProperties": false})"));
  EXPECT_TRUE(Accepts(empty, "{}"));
  const auto text = MustCompile(Schema(R"({"type": "string", "maxLength": 200000})"));
  EXPECT_TRUE(Accepts(text, "\"#\""));
  const auto numbers = MustCompile(Schema(
      R"({"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 100000})"));
  EXPECT_TRUE(Accepts(numbers, "[1, 2.5, -3e4]"));
  EXPECT_FALSE(Accepts(numbers, "[1, 2.5]"));
}

TEST_F(GrammarTest, WhatCannotBeEnforcedIsRefusedWithItsPath) {
  EXPECT_EQ(CompileError(Schema(R"({"properties": {"a": {"not": {"pattern": "b"}}}})")),
            "#/properties/a/not: not supported");
  EXPECT_EQ(CompileError(Schema(R"({"items": {"uniqueItems": true}})")),
            "#/items/uniqueItems: not supported");
  EXPECT_EQ(CompileError(Schema(R"({"not": {"contains": {}}})")), "#/not/contains: not supported");
  EXPECT_EQ(CompileError(Schema(R"({"dependentRequired": {"a": 5}})")),
            "#/dependentRequired: expected an array of strings");
  EXPECT_EQ(CompileError(Schema(R"({"if": {"multipleOf": 3}, "then": false})")),
            "#/if: not supported");
  EXPECT_EQ(CompileError(Schema(R"({"$ref": "#/$defs/b", "$defs": {"a": {}}})")),
            "#/$ref: \"#/$defs/b\" is not there");
  EXPECT_EQ(CompileError(Schema(R"({"anyOf": [{"format": "regex"}]})")).substr(0, 39),
            "#/anyOf/0/format: \"regex\" is not suppor");
  EXPECT_EQ(CompileError(Schema(R"({"const": 9007199254740993})")),
            "#/const: 9007199254740993 is beyond 2^53");
  EXPECT_EQ(CompileError(Schema(R"({"x-guidance": {"lenient": true}})")),
            "#/x-guidance: not supported");
  EXPECT_EQ(
      CompileError(Schema(R"x({"properties": {"a/b": {"pattern": "(?=x)"}}})x")).substr(0, 19),
      "#/properties/a~1b: ");
  EXPECT_EQ(CompileError(Schema(R"({"type": "strin"})")).substr(0, 3), "#: ");
  EXPECT_EQ(CompileError(Schema("{")).substr(0, 17), "not a JSON schema");
}

TEST_F(GrammarTest, WhatHasNoEffectIsAWarning) {
  const auto grammar = MustCompile(
      Schema(R"({"type": "string", "format": "password", "title": "t", "deprecated": true,
                 "uniqueItems": false, "x-order": 3})"));
  EXPECT_EQ(grammar->warnings(),
            (std::vector<std::string>{"#/x-order: has no effect",
                                      "#/format: \"password\" has no effect"}));
}

TEST_F(GrammarTest, BabbleMatchesItsRegex) {
  const std::string text = "[a-f]{2,4}-(x|yz)+[0-9]?";
  const auto grammar = MustCompile(Regex(text));
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::string said = Babble(grammar, seed);
    EXPECT_TRUE(said.empty() || std::regex_match(said, std::regex(text))) << said;
  }
}

TEST_F(GrammarTest, ErrorsOfTextsNameTheirPlace) {
  EXPECT_EQ(CompileError(Regex("ab(c")), "position 2: unclosed group");
  EXPECT_EQ(CompileError(Lark("start: \"a\"\nb: %%")).substr(0, 14), "line 2, column");
  EXPECT_EQ(CompileError(Lark("b: \"a\"")), "no start rule found");
}

TEST_F(GrammarTest, LarkUsesSchemasByName) {
  const auto grammar = MustCompile(
      {.kind = GrammarKind::kLark,
       .text = "start: \"<call>\" (@f | @g) \"</call>\"",
       .schemas = {{"f", R"({"const": {"name": "f"}})"}, {"g", R"({"const": {"name": "g"}})"}}});
  EXPECT_TRUE(Accepts(grammar, R"(<call>{"name": "g"}</call>)"));
  EXPECT_FALSE(Accepts(grammar, R"(<call>{"name": "h"}</call>)"));
  EXPECT_EQ(CompileError({.kind = GrammarKind::kLark,
                          .text = "start: @f",
                          .schemas = {{"f", R"({"not": {"pattern": "a"}})"}}}),
            "f: #/not: not supported");
}

TEST_F(GrammarTest, AheadOfTimeOrNotIsTheSame) {
  GrammarCompiler compiler(Small().tokenizer(), Small().vocab_size(), {});
  std::thread ahead([&] { compiler.PrepareAhead(); });
  EXPECT_TRUE(compiler.Compile(Regex("a")).has_value());
  ahead.join();
  compiler.PrepareAhead();
  EXPECT_TRUE(compiler.Compile(Regex("b")).has_value());
}

TEST_F(GrammarTest, SourcesAreBoundedAndKept) {
  GrammarCompiler compiler(Small().tokenizer(), Small().vocab_size(),
                           {.max_bytes = 20, .cached = 2});
  EXPECT_EQ(compiler.Compile(Regex("a{1,100}bcdefghijklmn")).error().message,
            "the grammar has 21 bytes, allowed is up to 20");
  const auto first = *compiler.Compile(Regex("a"));
  EXPECT_EQ(*compiler.Compile(Regex("a")), first);
  (void)compiler.Compile(Regex("b"));
  EXPECT_EQ(*compiler.Compile(Regex("a")), first);
  (void)compiler.Compile(Regex("c"));
  EXPECT_EQ(*compiler.Compile(Regex("a")), first) << "the least recently used goes first";
}

}  // namespace
}  // namespace vivace
