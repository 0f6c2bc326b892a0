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
  std::string Run(const std::string& text, const std::vector<std::string>& stop) {
    pieces_.clear();
    TextOutput output(*tokenizer_, stop, [&](std::string_view piece) { pieces_ += piece; });
    for (const char c : text) {
      if (output.Push(Id(std::string(1, c)))) break;
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

TEST_F(TextOutputTest, CharactersComeWholeAndControlTokensNotAtAll) {
  std::vector<std::string> pieces;
  TextOutput output(*tokenizer_, {}, [&](std::string_view piece) { pieces.emplace_back(piece); });
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
