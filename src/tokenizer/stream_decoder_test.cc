#include "tokenizer/stream_decoder.h"

#include <gtest/gtest.h>

#include "tokenizer/tables.h"

namespace vivace {
namespace {

struct Fixture {
  std::vector<std::byte> tables;
  Tokenizer tokenizer;
};

// Token i is byte i; 256 is "<end>".
Fixture ByteTokenizer() {
  std::vector<std::string> names;
  TokenizerSpec spec;
  spec.model = "llama";
  spec.add_space_prefix = false;
  constexpr const char* kHex = "0123456789ABCDEF";
  for (std::size_t i = 0; i < 256; ++i) {
    names.push_back(std::string("<0x") + kHex[i / 16] + kHex[i % 16] + ">");
    spec.types.push_back(TokenType::kByte);
  }
  names.emplace_back("<end>");
  spec.types.push_back(TokenType::kControl);
  spec.tokens.assign(names.begin(), names.end());
  spec.scores.assign(names.size(), 0.0F);
  auto tables = BuildTables(spec);
  EXPECT_TRUE(tables) << tables.error().message;
  auto tokenizer = Tokenizer::Open(*tables);
  return {std::move(*tables), *tokenizer};
}

TEST(StreamDecoder, EverySplitGivesTheSameText) {
  const Fixture fixture = ByteTokenizer();
  const std::string bytes = "h\u00e9 \u4f60\U0001F600\xFF\xF0\x9F\x41\xE4\xBD";
  const std::string expected =
      "h\u00e9 \u4f60\U0001F600\uFFFD\uFFFD"
      "A\uFFFD";
  for (std::uint32_t cuts = 0; cuts < (1U << (bytes.size() - 1)); ++cuts) {
    StreamDecoder decoder(fixture.tokenizer);
    std::string text;
    std::size_t begin = 0;
    for (std::size_t i = 1; i <= bytes.size(); ++i) {
      if (i < bytes.size() && ((cuts >> (i - 1)) & 1) == 0) continue;
      const std::string piece = decoder.Push(std::string_view(bytes).substr(begin, i - begin));
      ASSERT_EQ(piece.find('\xFF'), std::string::npos);
      text += piece;
      begin = i;
    }
    text += decoder.Finish();
    ASSERT_EQ(text, expected) << cuts;
  }
}

TEST(StreamDecoder, ACharacterComesOutWhole) {
  const Fixture fixture = ByteTokenizer();
  StreamDecoder decoder(fixture.tokenizer);
  EXPECT_EQ(decoder.Push(TokenId{0xE4}), "");
  EXPECT_EQ(decoder.Push(TokenId{0xBD}), "");
  EXPECT_EQ(decoder.Push(TokenId{0xA0}), "\u4f60");
  EXPECT_EQ(decoder.Finish(), "");
}

TEST(StreamDecoder, ControlTokensAreSkippedOrShown) {
  const Fixture fixture = ByteTokenizer();
  StreamDecoder skipping(fixture.tokenizer);
  EXPECT_EQ(skipping.Push(TokenId{256}), "");
  StreamDecoder showing(fixture.tokenizer, StreamDecoder::Control::kShow);
  EXPECT_EQ(showing.Push(TokenId{256}), "<end>");
  EXPECT_EQ(showing.Push(TokenId{-1}) + showing.Push(TokenId{99999}), "");
}

}  // namespace
}  // namespace vivace
