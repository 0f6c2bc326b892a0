// A build without the Rust part: what cannot be enforced is refused, whatever the form.
#include "gtest/gtest.h"

#include "constrain/testing.h"

namespace vivace {
namespace {

TEST(MatcherNoneTest, EveryFormIsRefused) {
  EXPECT_FALSE(GrammarCompiler::Available());
  const GrammarSource sources[] = {
      AnyJsonObject(),
      {.kind = GrammarKind::kJsonSchema, .text = R"({"type": "integer"})"},
      {.kind = GrammarKind::kGbnf, .text = R"(root ::= "a")"},
      {.kind = GrammarKind::kRegex, .text = "a"},
      {.kind = GrammarKind::kLark, .text = R"(start: "a")"},
      {.kind = GrammarKind::kRegex, .text = "("}};
  for (const GrammarSource& source : sources) {
    const auto grammar = Small().compiler().Compile(source);
    ASSERT_FALSE(grammar.has_value()) << source.text;
    EXPECT_EQ(grammar.error().kind, ErrorKind::kUnsupported);
    EXPECT_EQ(grammar.error().message, "structured output is not available in this build");
  }
}

}  // namespace
}  // namespace vivace
