#include "engine/text_output.h"

#include "gtest/gtest.h"

#include "tokenizer/tables.h"

namespace vivace {
namespace {

// Byte-level BPE whose tokens are the printable ASCII characters, U+00E4's two bytes and
// one control token.
class TextOutputTest : public testing::Test {
 protected:
  void SetUp() override {
    for (char c = '!'; c <= '~'; ++c) names_.emplace_back(1, c);
    names_.insert(names_.end(), {"\u0120", "\u010a"});  // as this kind writes " " and "\n"
    names_.insert(names_.end(), {"ab", "\u00c3", "\u00a4", "<|end|>"});
    TokenizerSpec spec;
    spec.model = "gpt2";
    spec.pre = "gpt-2";
    spec.tokens.assign(names_.begin(), names_.end());
    spec.types.assign(names_.size(), TokenType::kNormal);
    spec.types.back() = TokenType::kControl;
    spec.merges = {"a b"};
    tables_ = std::move(*BuildTables(spec));
    tokenizer_ = std::make_unique<Tokenizer>(std::move(*Tokenizer::Open(tables_)));
  }

  TokenId Id(const std::string& name) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return static_cast<TokenId>(i);
    }
    return -1;
  }

  // Pushes one token per character until a stop string ends the text.
  std::string Run(const std::string& text, const std::vector<std::string>& stop,
                  std::size_t min_indent = 0) {
    pieces_.clear();
    TextOutput output(*tokenizer_, stop, min_indent,
                      [&](std::string_view piece) { pieces_ += piece; });
    for (const char c : text) {
      const std::string name = c == ' ' ? "\u0120" : c == '\n' ? "\u010a" : std::string(1, c);
      if (output.Push(Id(name))) break;
    }
    output.Finish();
    EXPECT_EQ(pieces_, output.text());
    word_ = output.stopping_word();
    return output.text();
  }

  std::vector<std::string> names_;
  std::vector<std::byte> tables_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::string pieces_;
  std::string word_;
};

TEST_F(TextOutputTest, WithoutStopStringsEverythingComesOut) {
  EXPECT_EQ(Run("hello", {}), "hello");
}

TEST_F(TextOutputTest, AStopStringOfSeveralTokensEndsTheTextBeforeIt) {
  EXPECT_EQ(Run("oneEND.two", {"END"}), "one");
  EXPECT_EQ(word_, "END");
}

TEST_F(TextOutputTest, AnAlmostStopStringIsHandedOutInFull) {
  EXPECT_EQ(Run("oneENtwoEN", {"END"}), "oneENtwoEN");
  EXPECT_EQ(word_, "");
}

TEST_F(TextOutputTest, TheEarliestOfSeveralStopStringsCounts) {
  EXPECT_EQ(Run("abcdef", {"cde", "bc"}), "a");
  EXPECT_EQ(word_, "bc");
}

TEST_F(TextOutputTest, OverlappingStartsAreNotMissed) { EXPECT_EQ(Run("aaab", {"aab"}), "a"); }

TEST_F(TextOutputTest, EmptyStopStringsAreIgnored) { EXPECT_EQ(Run("xy", {"", ""}), "xy"); }

TEST_F(TextOutputTest, ALineThatBeginsTooEarlyEndsTheText) {
  const std::string code = "a:\n  b\n   c\n d\n  e";
  EXPECT_EQ(Run(code, {}, 2), "a:\n  b\n   c\n ");
  EXPECT_EQ(word_, "");
  EXPECT_EQ(Run(code, {}, 1), code);
  EXPECT_EQ(Run(code, {"c"}, 2), "a:\n  b\n   ");
  EXPECT_EQ(Run("a\n\n  b", {}, 2), "a\n");
  EXPECT_EQ(Run("a\n  bEN", {"END"}, 2), "a\n  bEN");
}

TEST_F(TextOutputTest, CharactersComeWholeAndControlTokensNotAtAll) {
  std::vector<std::string> pieces;
  TextOutput output(*tokenizer_, {}, 0,
                    [&](std::string_view piece) { pieces.emplace_back(piece); });
  output.Push(Id("\u00c3"));
  EXPECT_TRUE(pieces.empty());
  output.Push(Id("\u00a4"));
  output.Push(Id("<|end|>"));
  output.Push(Id("\u00c3"));
  output.Finish();
  EXPECT_EQ(pieces, (std::vector<std::string>{"\u00e4", "\ufffd"}));
}

}  // namespace
}  // namespace vivace
