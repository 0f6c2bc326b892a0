#include "constrain/constraint.h"

#include "gtest/gtest.h"

#include "constrain/testing.h"

namespace vivace {
namespace {

class ConstraintTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!GrammarCompiler::Available()) GTEST_SKIP();
  }

  static std::vector<TokenId> Ids(std::string_view text) {
    std::vector<TokenId> ids;
    Small().tokenizer().Encode(text, Tokenizer::Special::kAsText, ids);
    return ids;
  }
  static std::string Text(std::span<const TokenId> ids) {
    std::string text;
    for (const TokenId id : ids) text += Small().tokenizer().Piece(id);
    return text;
  }
};

TEST_F(ConstraintTest, ForcedTokensAreThoseOfTheText) {
  const auto grammar = MustCompile({.text = R"({"type": "object", "properties": {
      "first": {"enum": ["alpha", "beta"]}, "second": {"type": "boolean"}},
      "required": ["first", "second"], "additionalProperties": false})"});
  Constraint constraint(ConstraintSpec{.grammar = grammar}, Small().tokenizer(),
                        Small().vocab_size());
  std::string text;
  int steps = 0;
  while (!constraint.complete() && ++steps < 50) {
    const std::vector<TokenId> forced(constraint.Forced().begin(), constraint.Forced().end());
    for (const TokenId token : forced) {
      EXPECT_TRUE(Allowed(constraint.Mask(), token));
      constraint.Accept(token);
      text += Small().tokenizer().Piece(token);
    }
    if (!forced.empty()) continue;
    for (std::size_t id = 0;; ++id) {
      if (!Allowed(constraint.Mask(), static_cast<TokenId>(id))) continue;
      constraint.Accept(static_cast<TokenId>(id));
      text += Small().tokenizer().Piece(static_cast<TokenId>(id));
      break;
    }
  }
  EXPECT_TRUE(constraint.complete());
  EXPECT_FALSE(constraint.failure());
  EXPECT_NE(text.find(R"(", "second": )"), std::string::npos) << text;
}

TEST_F(ConstraintTest, TheEndIsAllowedWhereTheTextMayEnd) {
  const auto grammar = MustCompile({.kind = GrammarKind::kRegex, .text = "ab?"});
  Constraint constraint({.grammar = grammar}, Small().tokenizer(), Small().vocab_size());
  const TokenId end = EndToken();
  EXPECT_FALSE(Allowed(constraint.Mask(), end));
  constraint.Accept(Ids("a").front());
  EXPECT_FALSE(constraint.complete());
  EXPECT_TRUE(Allowed(constraint.Mask(), end));
  constraint.Accept(Ids("b").front());
  EXPECT_TRUE(constraint.complete());
}

TEST_F(ConstraintTest, PatternsBeginAtTheirFirstGroupWithText) {
  struct Case {
    const char* pattern;
    bool whole;
    std::string free;   // what comes before the grammar's text
    std::string begun;  // what of the grammar's text was free
    bool triggers;
  };
  const auto grammar = MustCompile({.kind = GrammarKind::kRegex, .text = "<call>[0-9]+;"});
  for (const Case& one : {Case{"<call>", false, "Let me see. ", "<call>", true},
                          Case{"see[.!] ?(no)?(<call>)", false, "I see. ", "<call>", true},
                          Case{"\\s*(<call>)[\\s\\S]*", true, "  ", "<call>", true},
                          Case{"\\s*(<call>)[\\s\\S]*", true, "a ", "<call>", false},
                          Case{"^<[[a]", false, "", "<call>", false}}) {
    auto pattern = TriggerPattern::Compile(one.pattern, one.whole);
    ASSERT_TRUE(pattern.has_value()) << pattern.error().message;
    const Trigger trigger = {
        .kind = Trigger::Kind::kPattern,
        .pattern = std::make_shared<const TriggerPattern>(std::move(*pattern))};
    Constraint constraint({.grammar = grammar, .lazy = true, .triggers = {trigger}},
                          Small().tokenizer(), Small().vocab_size());
    for (const TokenId token : Ids(one.free + one.begun)) constraint.Accept(token);
    EXPECT_FALSE(constraint.failure());
    ASSERT_EQ(constraint.active(), one.triggers) << one.pattern;
    if (!one.triggers) continue;
    EXPECT_TRUE(Allowed(constraint.Mask(), Ids("7").front()));
  }
  EXPECT_EQ(TriggerPattern::Compile("(a", false).error().kind, ErrorKind::kBadInput);
}

TEST_F(ConstraintTest, LazyGrammarsBeginWithATrigger) {
  const auto grammar = MustCompile({.kind = GrammarKind::kRegex, .text = "<call>[0-9]+;"});
  const ConstraintSpec spec = {.grammar = grammar, .lazy = true, .triggers = {{.word = "<call>"}}};
  for (const std::string free : {"Let me see. ", "<ca", ""}) {
    Constraint constraint(spec, Small().tokenizer(), Small().vocab_size());
    for (const TokenId token : Ids(free + "<call>")) {
      EXPECT_FALSE(constraint.active());
      EXPECT_TRUE(constraint.Mask().empty());
      constraint.Accept(token);
    }
    ASSERT_TRUE(constraint.active());
    EXPECT_TRUE(Allowed(constraint.Mask(), Ids("7").front()));
    EXPECT_FALSE(Allowed(constraint.Mask(), Ids("x").front()));
  }
}

TEST_F(ConstraintTest, LeavingTheGrammarIsAFailure) {
  const auto grammar = MustCompile({.kind = GrammarKind::kRegex, .text = "abc"});
  Constraint constraint({.grammar = grammar}, Small().tokenizer(), Small().vocab_size());
  constraint.Accept(Ids("x").front());
  ASSERT_TRUE(constraint.failure());
  EXPECT_EQ(constraint.failure()->message.substr(0, 32), "the grammar cannot be followed: ");
  EXPECT_TRUE(constraint.Mask().empty());
  EXPECT_TRUE(constraint.Forced().empty());
}

TEST_F(ConstraintTest, NeverAllowsControlTokensInText) {
  const auto grammar = MustCompile({.kind = GrammarKind::kRegex, .text = "(?s:.)*"});
  Constraint constraint({.grammar = grammar}, Small().tokenizer(), Small().vocab_size());
  const auto mask = constraint.Mask();
  for (std::size_t id = 0; id < Small().tokenizer().vocab_size(); ++id) {
    const auto token = static_cast<TokenId>(id);
    if (!Small().tokenizer().IsControl(token)) continue;
    EXPECT_EQ(Allowed(mask, token), Small().tokenizer().IsEndOfGeneration(token)) << id;
  }
  for (std::size_t id = Small().tokenizer().vocab_size(); id < Small().vocab_size(); ++id) {
    EXPECT_FALSE(Allowed(mask, static_cast<TokenId>(id)));
  }
}

}  // namespace
}  // namespace vivace
