#include "constrain/gbnf.h"

#include "gtest/gtest.h"
#include <fmt/format.h>

#include "constrain/testing.h"

namespace vivace {
namespace {

GrammarSource Gbnf(std::string text) {
  return {.kind = GrammarKind::kGbnf, .text = std::move(text)};
}

std::string ErrorOf(const std::string& text) {
  const auto lark = LarkFromGbnf(text, Small().tokenizer());
  return lark ? "none" : lark.error().message;
}

struct Language {
  const char* grammar;
  std::vector<const char*> in;
  std::vector<const char*> out;
};

class GbnfLanguage : public testing::TestWithParam<Language> {};

TEST_P(GbnfLanguage, IsThatOfTheGrammar) {
  if (!GrammarCompiler::Available()) GTEST_SKIP();
  const auto grammar = MustCompile(Gbnf(GetParam().grammar));
  ASSERT_NE(grammar, nullptr);
  for (const char* text : GetParam().in) EXPECT_TRUE(Accepts(grammar, text)) << text;
  for (const char* text : GetParam().out) EXPECT_FALSE(Accepts(grammar, text)) << text;
}

INSTANTIATE_TEST_SUITE_P(
    All, GbnfLanguage,
    testing::Values(
        Language{"root ::= \"yes\" | \"no\"", {"yes", "no"}, {"", "y", "maybe", "yesno"}},
        Language{"root ::= [a-c]+ \"abc\"", {"aabc", "abcabc", "cccabc"}, {"abc", "abcd", "xabc"}},
        Language{"root ::= ab{2,3}\nab ::= \"ab\"", {"abab", "ababab"}, {"ab", "abababab"}},
        Language{"root ::= \"a\"{2}", {"aa"}, {"a", "aaa"}},
        Language{"root ::= \"a\"{2,} \"b\"?", {"aa", "aaaab"}, {"a", "ab"}},
        Language{"root ::= \"a\"{0,2} \"b\"{0}", {"", "a", "aa"}, {"aaa", "b"}},
        Language{"root ::= [^a-z\\]]*", {"", "A1", "[-"}, {"a", "]"}},
        Language{"root ::= [-a] [a-] \"\\x41\\u0042\\U00000043\"", {"-aABC", "a-ABC"}, {"bbABC"}},
        Language{"root ::= \"\\\"\\\\\\n\\t\" .", {"\"\\\n\tx", "\"\\\n\t\n"}, {"\"\\\n\t"}},
        Language{"# all of it\nroot ::= ( # inside\n  \"a\" |\n  \"b\"\n)+ # end\n",
                 {"a", "bab"},
                 {"", "c"}},
        Language{"root ::= \"(\" root \")\" | \"x\"", {"x", "((x))"}, {"(x", "()"}},
        Language{
            "root ::= list\nlist ::= \"[\" (item (\",\" item)*)? \"]\"\nitem ::= list | [0-9]+",
            {"[]", "[1,[2,34],[]]"},
            {"[", "[1,]", "1"}},
        Language{"root ::= \"\" | a\na ::= \"(\" a? \")\" b*\nb ::= \"-\" | a",
                 {"", "()", "(())--()"},
                 {"(", "-"}},
        Language{"root ::= \"\\u00e4\\U0001F337\"", {"\u00e4\U0001F337"}, {"\u00e4"}}));

TEST(GbnfTest, ErrorsNameTheirPlace) {
  EXPECT_EQ(ErrorOf(""), "line 1, column 1: the grammar has no rules");
  EXPECT_EQ(ErrorOf("root ::= \"a"), "line 1, column 10: the literal has no end");
  EXPECT_EQ(ErrorOf("root ::= a b\na ::= \"x\""), "line 1, column 12: rule \"b\" is not defined");
  EXPECT_EQ(ErrorOf("a ::= \"x\""), "line 1, column 1: rule \"root\" is not defined");
  EXPECT_EQ(ErrorOf("root ::= \"a\"\nroot ::= \"b\""),
            "line 2, column 1: rule \"root\" is defined twice");
  EXPECT_EQ(ErrorOf("root ::= (\"a\""),
            "line 1, column 14: expected ) for line 1, column 10, got the end of the grammar");
  EXPECT_EQ(ErrorOf("root = \"a\""), "line 1, column 6: expected ::=, got \"=\"");
  EXPECT_EQ(ErrorOf("root ::= \"\\q\"").substr(0, 34), "line 1, column 11: \"\\q\" is unknown");
  EXPECT_EQ(ErrorOf("root ::= \"\\ud800\""), "line 1, column 13: U+D800 is no character");
  EXPECT_EQ(ErrorOf("root ::= [z-a]"), "line 1, column 11: the range is the wrong way round");
  EXPECT_EQ(ErrorOf("root ::= []"), "line 1, column 10: the class is empty");
  EXPECT_EQ(ErrorOf("root ::= \"a\" )"),
            "line 1, column 14: expected the end of the line, got \")\"");
  EXPECT_EQ(ErrorOf("root ::= *"), "line 1, column 10: \"*\" is not expected here");
  EXPECT_EQ(ErrorOf("root ::= \"a\"{3,2}"), "line 1, column 13: the most is below the least");
  EXPECT_EQ(ErrorOf("root ::= <[99999999]>"), "line 1, column 10: there is no such token");
}

TEST(GbnfTest, LeftRecursionIsRefusedByName) {
  const std::string direct = "root ::= e\ne ::= e \"+\" e | \"1\"";
  EXPECT_EQ(ErrorOf(direct), "line 2, column 1: rule \"e\" begins with itself");
  const std::string hidden = "root ::= \"x\"? a* root\na ::= \"y\"";
  EXPECT_EQ(ErrorOf(hidden), "line 1, column 1: rule \"root\" begins with itself");
  EXPECT_NE(ErrorOf("root ::= a\na ::= b\nb ::= [ ]* a").find("begins with itself"),
            std::string::npos);
}

TEST(GbnfTest, ExpansionIsBounded) {
  EXPECT_EQ(ErrorOf("root ::= \"a\"{2000000000,2147483647}"),
            "line 1, column 13: repeated more than 100000 times");
  EXPECT_EQ(ErrorOf("root ::= \"a\"{99999999999999999999}"),
            "line 1, column 14: the number is too large");
  std::string deep = "root ::= ";
  for (int i = 0; i < 200; ++i) deep += "(";
  EXPECT_NE(ErrorOf(deep).find("parentheses inside each other"), std::string::npos);
  std::string doubling = "root ::= r0\n";
  for (int i = 0; i < 40; ++i) {
    doubling += fmt::format("r{} ::= r{} r{}\n", i, i + 1, i + 1);
  }
  doubling += "r40 ::= \"a\"?\n";
  EXPECT_EQ(ErrorOf(doubling), "none");
}

TEST(GbnfTest, LargeRepetitionsCompile) {
  if (!GrammarCompiler::Available()) GTEST_SKIP();
  const auto grammar = MustCompile(Gbnf("root ::= [a-z]{1,100000}"));
  EXPECT_TRUE(Accepts(grammar, "abc"));
  EXPECT_FALSE(Accepts(grammar, ""));
}

TEST(GbnfTest, TokensByNameAndNumber) {
  if (!GrammarCompiler::Available()) GTEST_SKIP();
  const Tokenizer& tokenizer = Small().tokenizer();
  const auto grammar = MustCompile(Gbnf("root ::= \"a\" <|endoftext|>? \"b\""));
  ASSERT_NE(grammar, nullptr);
  EXPECT_TRUE(Accepts(grammar, "ab"));
  EXPECT_NE(ErrorOf("root ::= <nothing>").find("is no token of this model"), std::string::npos);
  (void)tokenizer;
}

TEST(GbnfTest, BabbleOfJsonIsJson) {
  if (!GrammarCompiler::Available()) GTEST_SKIP();
  const auto grammar = MustCompile(Gbnf(R"(
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20})"));
  ASSERT_NE(grammar, nullptr);
  EXPECT_TRUE(Accepts(grammar, R"({"a": [1, -2.5e3, {"b": null}], "c": "x\n\"y"})"));
  EXPECT_FALSE(Accepts(grammar, R"({"a": 01})"));
}

}  // namespace
}  // namespace vivace
