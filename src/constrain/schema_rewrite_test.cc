// Keywords of schemas that are said by others: each allows exactly what it should.
#include "gtest/gtest.h"

#include "constrain/grammar.h"
#include "constrain/testing.h"

namespace vivace {
namespace {

struct RewriteCase {
  const char* schema;
  std::vector<const char*> valid;
  std::vector<const char*> invalid;
};

void PrintTo(const RewriteCase& one, std::ostream* out) { *out << one.schema; }

class SchemaRewriteTest : public testing::TestWithParam<RewriteCase> {};

TEST_P(SchemaRewriteTest, AllowsExactlyWhatTheKeywordsAllow) {
  if (!GrammarCompiler::Available()) GTEST_SKIP();
  const auto grammar = MustCompile({.text = GetParam().schema});
  ASSERT_TRUE(grammar);
  for (const char* text : GetParam().valid) EXPECT_TRUE(Accepts(grammar, text)) << text;
  for (const char* text : GetParam().invalid) EXPECT_FALSE(Accepts(grammar, text)) << text;
}

const RewriteCase kKeywords[] = {
    {R"({"type": ["string", "integer"], "not": {"type": "string"}})", {"5"}, {R"("a")"}},
    {R"({"type": "string", "not": {"enum": ["no", "none", "n\""]}})",
     {R"("")", R"("n")", R"("nobody")", R"("yes")", R"("nonE")"},
     {R"("no")", R"("none")", R"("n\"")"}},
    {R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
         "additionalProperties": false, "not": {"required": ["a", "b"]}})",
     {"{}", R"({"a": 1})", R"({"b": 1})"},
     {R"({"a": 1, "b": 1})"}},
    {R"({"type": "integer", "minimum": 0, "not": {"anyOf": [{"maximum": 4}, {"minimum": 8}]}})",
     {"5", "7"},
     {"4", "8"}},
    {R"({"type": "object", "properties": {"kind": {"enum": ["x", "y"]}, "size": {"type": "integer"}},
         "required": ["kind"], "additionalProperties": false,
         "if": {"properties": {"kind": {"const": "x"}}}, "then": {"required": ["size"]},
         "else": {"properties": {"size": false}}})",
     {R"({"kind": "x", "size": 1})", R"({"kind": "y"})"},
     {R"({"kind": "x"})", R"({"kind": "y", "size": 1})"}},
    {R"({"type": "boolean", "then": {"const": 5}})", {"true"}, {"5"}},
};
INSTANTIATE_TEST_SUITE_P(Conditions, SchemaRewriteTest, testing::ValuesIn(kKeywords));

const RewriteCase kObjects[] = {
    {R"({"type": "object", "properties": {"card": {"type": "integer"}, "zip": {"type": "integer"}},
         "additionalProperties": false, "dependentRequired": {"card": ["zip"]}})",
     {"{}", R"({"zip": 1})", R"({"card": 1, "zip": 1})"},
     {R"({"card": 1})"}},
    {R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
         "additionalProperties": false,
         "dependencies": {"a": {"properties": {"b": {"maximum": 3}}}}})",
     {R"({"b": 5})", R"({"a": 1, "b": 3})", R"({"a": 1})"},
     {R"({"a": 1, "b": 5})"}},
    {R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
         "additionalProperties": false, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]})",
     {R"({"a": 1})", R"({"b": 1})"},
     {"{}", R"({"a": 1, "b": 1})"}},
    {R"({"dependentRequired": {"a": ["b"]}, "type": ["null", "object"], "maxProperties": 0})",
     {"null", "{}"},
     {"5"}},
};
INSTANTIATE_TEST_SUITE_P(Objects, SchemaRewriteTest, testing::ValuesIn(kObjects));

const RewriteCase kOthers[] = {
    {R"({"type": "array", "uniqueItems": true, "items": {"enum": ["a", 1, null]}, "minItems": 1})",
     {R"(["a"])", R"([null, 1, "a"])", "[1, null]"},
     {"[]", R"(["a", "a"])", "[1, null, 1]"}},
    {R"({"type": "array", "uniqueItems": true, "items": {"type": "integer"}, "maxItems": 1})",
     {"[]", "[5]"},
     {"[5, 5]"}},
    {R"({"type": "string", "pattern": "^n[^\"]$"})", {R"("na")", R"("n\\")"}, {R"("n\"")"}},
    {R"({"type": "string", "pattern": "^n[^\\\\a]$"})", {R"("n\"")"}, {R"("n\\")", R"("na")"}},
    {R"({"type": "string", "pattern": "^(?!aws:)[a-z:]+$"})",
     {R"("aw")", R"("aws")", R"("bws:")", R"("awsx:")"},
     {R"("aws:")", R"("aws:a")", R"("A")"}},
    {R"({"type": "string", "pattern": "^(?!me$|you$)(?=.{2,4}$)[a-z]+$"})",
     {R"("men")", R"("yo")", R"("he")"},
     {R"("me")", R"("you")", R"("h")", R"("every")"}},
    {R"({"type": "string", "pattern": "^[a^][[][^]b][c]$"})",
     {R"("^[ac")", R"("a[cc")"},
     {R"("a[bc")", R"("a[]c")", R"("ab[c")"}},
    {R"({"type": "string", "pattern": "^[[a]+=b]$"})", {R"("[=b]")", R"("a=b]")"}, {R"("a")"}},
};
INSTANTIATE_TEST_SUITE_P(Others, SchemaRewriteTest, testing::ValuesIn(kOthers));

}  // namespace
}  // namespace vivace
