#include "tokenizer/pre_split.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tokenizer/tables.h"

namespace vivace {
namespace {

using Words = std::vector<std::string>;

Words Split(const char* pre, std::string_view text) {
  TokenizerSpec spec;
  spec.model = "gpt2";
  spec.pre = pre;
  spec.tokens = {"a", "b", "ab"};
  spec.merges = {"a b"};
  const auto tables = BuildTables(spec);
  const auto view = TableView::Open(*tables);
  const PreSplit pre_split(*view);
  Words words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = pre_split.WordEnd(text, begin);
    if (end <= begin || end > text.size()) {
      ADD_FAILURE() << "word from " << begin << " to " << end;
      break;
    }
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

TEST(PreSplit, Qwen2) {
  EXPECT_EQ(Split("qwen2", "I'M don't  go"), (Words{"I", "'M", " don", "'t", " ", " go"}));
  EXPECT_EQ(Split("qwen2", "x12.5"), (Words{"x", "1", "2", ".", "5"}));
  EXPECT_EQ(Split("qwen2", "(x):\n\n y"), (Words{"(x", "):\n\n", " y"}));
  EXPECT_EQ(Split("qwen2", " \n \n  z"), (Words{" \n \n", " ", " z"}));
  EXPECT_EQ(Split("qwen2", "\t\tb"), (Words{"\t", "\tb"}));
  EXPECT_EQ(Split("qwen2", "a   "), (Words{"a", "   "}));
  EXPECT_EQ(Split("qwen2", " -> -"), (Words{" ->", " -"}));
  EXPECT_EQ(Split("qwen2", "it'\u017fx"), (Words{"it", "'\u017f", "x"}));
  EXPECT_EQ(Split("qwen2", "\u4f60\u597d\uff0c\u4e16"), (Words{"\u4f60\u597d", "\uff0c\u4e16"}));
}

TEST(PreSplit, Llama3TakesThreeDigits) {
  EXPECT_EQ(Split("llama-bpe", "1234567 8"), (Words{"123", "456", "7", " ", "8"}));
}

TEST(PreSplit, Gpt2) {
  EXPECT_EQ(Split("gpt-2", "I'M don't"), (Words{"I", "'", "M", " don", "'t"}));
  EXPECT_EQ(Split("gpt-2", "a 123!\n"), (Words{"a", " 123", "!", "\n"}));
  EXPECT_EQ(Split("gpt-2", "a\n\n b"), (Words{"a", "\n\n", " b"}));
}

TEST(PreSplit, SmolLmCutsDigitsOutFirst) {
  EXPECT_EQ(Split("smollm", "a 12  3"), (Words{"a", " ", "1", "2", "  ", "3"}));
  EXPECT_EQ(Split("smollm", "a  b"), (Words{"a", " ", " b"}));
  EXPECT_EQ(Split("smollm", "x '1s"), (Words{"x", " '", "1", "s"}));
}

TEST(PreSplit, EachInvalidByteIsASymbol) {
  EXPECT_EQ(Split("qwen2", "a\xE4\xB8z"), (Words{"a", "\xE4\xB8", "z"}));
  EXPECT_EQ(Split("qwen2", "a \xFFz"), (Words{"a", " \xFF", "z"}));
  EXPECT_EQ(Split("qwen2", "\xFFz"), (Words{"\xFFz"}));
}

}  // namespace
}  // namespace vivace
