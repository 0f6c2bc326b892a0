#include "tokenizer/tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tokenizer/tokenizer.h"

namespace vivace {
namespace {

TokenizerSpec Bpe() {
  TokenizerSpec spec;
  spec.model = "gpt2";
  spec.pre = "qwen2";
  spec.tokens = {"a", "b", "c", "ab", "abc", "<end>"};
  spec.types.assign(5, TokenType::kNormal);
  spec.types.push_back(TokenType::kControl);
  spec.merges = {"a b", "ab c"};
  spec.eos = 5;
  return spec;
}

std::vector<TokenId> Encode(const TokenizerSpec& spec, std::string_view text,
                            Tokenizer::Special special = Tokenizer::Special::kParse) {
  const auto tables = BuildTables(spec);
  EXPECT_TRUE(tables) << tables.error().message;
  if (!tables) return {};
  std::vector<TokenId> ids;
  Tokenizer::Open(*tables)->Encode(text, special, ids);
  return ids;
}

void ExpectRefused(const TokenizerSpec& spec, ErrorKind kind, const std::string& part) {
  const auto tables = BuildTables(spec);
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().kind, kind);
  EXPECT_NE(tables.error().message.find(part), std::string::npos) << tables.error().message;
}

TEST(Tables, RefusesWhatContradictsItself) {
  TokenizerSpec spec = Bpe();
  spec.bos = 6;
  ExpectRefused(spec, ErrorKind::kBadInput, "bos token is 6");
  spec = Bpe();
  spec.eot = -7;
  ExpectRefused(spec, ErrorKind::kBadInput, "eot token is -7");
  spec = Bpe();
  spec.merges.clear();
  ExpectRefused(spec, ErrorKind::kBadInput, "without merges");
  spec = Bpe();
  spec.merges.emplace_back("a x");
  ExpectRefused(spec, ErrorKind::kBadInput, "merge 2 \"a x\"");
  for (const char* merge : {"", " ", "a", "ab ", " b"}) {
    spec.merges.back() = merge;
    ExpectRefused(spec, ErrorKind::kBadInput, "merge 2");
  }
  spec = Bpe();
  spec.types.pop_back();
  ExpectRefused(spec, ErrorKind::kBadInput, "5 token types for 6 tokens");
  spec = Bpe();
  spec.tokens.clear();
  spec.types.clear();
  ExpectRefused(spec, ErrorKind::kBadInput, "0 tokens");
}

TEST(Tables, UnknownFamiliesNameTheKnown) {
  TokenizerSpec spec = Bpe();
  spec.pre = "marsian";
  ExpectRefused(spec, ErrorKind::kUnsupported, "\"marsian\" is unknown; known are qwen2, ");
  spec.model = "rwkv";
  ExpectRefused(spec, ErrorKind::kUnsupported, "\"rwkv\" is unknown; known are gpt2 and llama");
}

TEST(Tables, SentencePieceNeedsScoresAndByteNames) {
  TokenizerSpec spec;
  spec.model = "llama";
  spec.tokens = {"a", "<0x41>"};
  spec.types = {TokenType::kNormal, TokenType::kByte};
  spec.scores = {0};
  ExpectRefused(spec, ErrorKind::kBadInput, "1 scores for 2 tokens");
  spec.scores = {0, std::numeric_limits<float>::quiet_NaN()};
  ExpectRefused(spec, ErrorKind::kBadInput, "token 1 is not a number");
  spec.scores = {0, 0};
  spec.tokens[1] = "<0x4G>";
  ExpectRefused(spec, ErrorKind::kBadInput, "byte token 1 is \"<0x4G>\"");
}

TEST(Tables, OfEqualTokensTheFirstCounts) {
  TokenizerSpec spec = Bpe();
  spec.tokens.insert(spec.tokens.end(), {"ab", "", "<end>"});
  spec.types.insert(spec.types.end(), 2, TokenType::kNormal);
  spec.types.push_back(TokenType::kControl);
  EXPECT_EQ(Encode(spec, "abc<end>ab"), (std::vector<TokenId>{4, 5, 3}));
}

TEST(Tables, MinusOneIsNoToken) {
  TokenizerSpec spec = Bpe();
  spec.pad = -1;
  const auto tables = BuildTables(spec);
  ASSERT_TRUE(tables);
  EXPECT_EQ(Tokenizer::Open(*tables)->pad(), std::nullopt);
}

TEST(Tables, BytesWithoutATokenVanish) {
  EXPECT_EQ(Encode(Bpe(), "abzc\xFF"), (std::vector<TokenId>{4}));
}

// Whatever is damaged: an error, or ids that are in the vocabulary.
TEST(Tables, DamageIsAnErrorOrInBounds) {
  const auto good = BuildTables(Bpe());
  ASSERT_TRUE(good);
  const auto use = [&](std::vector<std::byte> bytes) {
    const auto tokenizer = Tokenizer::Open(bytes);
    if (!tokenizer) return false;
    std::vector<TokenId> ids;
    for (const auto special : {Tokenizer::Special::kParse, Tokenizer::Special::kAsText}) {
      tokenizer->Encode("abc<end> aab\u00e9\u0301 12\n\nabcabc", special, ids);
    }
    for (const TokenId id : ids) {
      EXPECT_GE(id, 0);
      EXPECT_LT(static_cast<std::size_t>(id), tokenizer->vocab_size());
      EXPECT_LT(tokenizer->Piece(id).size(), bytes.size());
    }
    tokenizer->Find("abc");
    tokenizer->control_texts();
    return true;
  };
  EXPECT_TRUE(use(*good));
  std::size_t refused = 0;
  for (std::size_t i = 0; i < sizeof(TableHeader); ++i) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::vector<std::byte> bytes = *good;
      bytes[i] ^= static_cast<std::byte>(flip);
      refused += use(std::move(bytes)) ? 0U : 1U;
    }
  }
  EXPECT_GT(refused, 300U);
  std::mt19937 random(7);
  const TableHeader& header = *reinterpret_cast<const TableHeader*>(good->data());
  for (int round = 0; round < 400; ++round) {
    std::vector<std::byte> bytes = *good;
    // The small sections one after the other: everything but classes and joins.
    const auto& section = header.sections[random() % 8];
    for (int i = 0; i < 6; ++i) {
      if (section.bytes == 0) break;
      bytes[section.offset + random() % section.bytes] = static_cast<std::byte>(random());
    }
    use(std::move(bytes));
  }
  // Classes that are none must not stop the scanner.
  std::vector<std::byte> odd = *good;
  const auto& classes = header.sections[static_cast<std::size_t>(TableSection::kClassBlocks)];
  std::fill_n(odd.begin() + static_cast<std::ptrdiff_t>(classes.offset), classes.bytes,
              std::byte{0x07});
  EXPECT_TRUE(use(std::move(odd)));
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, sizeof(TableHeader) - 1,
                                 sizeof(TableHeader), good->size() / 2, good->size() - 1}) {
    EXPECT_FALSE(Tokenizer::Open(std::span(*good).first(size))) << size;
  }
}

}  // namespace
}  // namespace vivace
