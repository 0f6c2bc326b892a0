#include "tokenizer/tokenizer.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "tokenizer/spec_json.h"
#include "tokenizer/stream_decoder.h"
#include "tokenizer/tables.h"

namespace vivace {
namespace {

using Special = Tokenizer::Special;
using Ids = std::vector<TokenId>;

// One family's small vocabulary, and what an independent tokenizer makes of texts with it.
class Family {
 public:
  explicit Family(const std::string& name) {
    const char* root = std::getenv("VIVACE_SOURCE_DIR");
    const std::string path =
        std::string(root != nullptr ? root : ".") + "/tests/data/tokenizer/" + name + ".json";
    std::ifstream file(path);
    cases_ = nlohmann::json::parse(file).at("cases");
    const auto owned = ReadSpecJson(path);
    tables_ = *BuildTables((*owned)->spec);
    tokenizer_ = std::make_unique<Tokenizer>(*Tokenizer::Open(tables_));
  }

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const nlohmann::json& cases() const { return cases_; }

  Ids Encode(std::string_view text, Special special = Special::kParse) const {
    Ids ids;
    tokenizer_->Encode(text, special, ids);
    return ids;
  }

  std::string Decode(const Ids& ids) const {
    std::string bytes;
    for (const TokenId id : ids) bytes += tokenizer_->Piece(id);
    return bytes;
  }

 private:
  nlohmann::json cases_;
  std::vector<std::byte> tables_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, IdsAreTheReferences) {
  const Family family(GetParam());
  ASSERT_GT(family.cases().size(), 100U);
  for (const auto& golden : family.cases()) {
    const auto text = golden.at("text").get<std::string>();
    const auto parsed = golden.at("parsed").get<Ids>();
    EXPECT_EQ(family.Encode(text, Special::kParse), parsed) << text;
    EXPECT_EQ(family.Encode(text, Special::kAsText), golden.value("plain", parsed)) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryFamily, Golden,
                         testing::Values("qwen2", "llama-bpe", "gpt-2", "smollm", "sentencepiece",
                                         "gemma"),
                         [](const auto& family) {
                           std::string name = family.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Tokenizer, DecodingGivesTheTextBack) {
  const Family family("gpt-2");
  for (const auto& golden : family.cases()) {
    const auto text = golden.at("text").get<std::string>();
    EXPECT_EQ(family.Decode(family.Encode(text)), text);
  }
}

TEST(Tokenizer, InvalidBytesComeBackAndLeaveTheRestAlone) {
  const Family family("qwen2");
  for (const char* text : {"\xFF", "a\xE4\xB8z", "\x80\x80\x80 the dog", "\xF0\x9F\x98"}) {
    EXPECT_EQ(family.Decode(family.Encode(text)), text);
  }
  // What is valid becomes what it would alone, where the bad byte is a word of its own.
  Ids expected = family.Encode(" the dog");
  const Ids bad = family.Encode(" \xFF");
  expected.insert(expected.end(), bad.begin(), bad.end());
  EXPECT_EQ(family.Encode(" the dog \xFF"), expected);
  // Nothing composes across it.
  EXPECT_EQ(family.Decode(family.Encode("e\xFF\u0301")), "e\xFF\u0301");
}

TEST(Tokenizer, Qwen2Composes) {
  const Family family("qwen2");
  const auto decoded = [&](std::string_view text) { return family.Decode(family.Encode(text)); };
  EXPECT_EQ(decoded("e\u0301"), "\u00e9");
  EXPECT_EQ(decoded("x\u1112\u1161\u11ab"), "x\ud55c");
  EXPECT_EQ(decoded("a\u0302\u0323"), "\u1ead");               // reordered
  EXPECT_EQ(decoded("\u212b \u0958"), "\u00c5 \u0915\u093c");  // singleton, exclusion
  EXPECT_EQ(decoded("\u0301e"), "\u0301e");
  // Sorting a long run of marks must not take quadratic time.
  std::string marks = "a";
  for (int i = 0; i < 200000; ++i) marks += "\u0301\u0316";
  EXPECT_EQ(decoded(marks).size(), marks.size() - 1);
}

TEST(Tokenizer, ControlTextIsOnlyParsedWhenAsked) {
  const Family family("qwen2");
  const auto start = family.tokenizer().Find("<|im_start|>");
  ASSERT_TRUE(start);
  EXPECT_TRUE(family.tokenizer().IsControl(*start));
  EXPECT_EQ(family.Encode("<|im_start|>"), Ids{*start});
  for (const TokenId id : family.Encode("<|im_start|> <|im_end|>", Special::kAsText)) {
    EXPECT_FALSE(family.tokenizer().IsControl(id));
  }
  const auto call = family.tokenizer().Find("<tool_call>");
  ASSERT_TRUE(call);
  EXPECT_EQ(family.tokenizer().Type(*call), TokenType::kUserDefined);
  EXPECT_EQ(family.Encode("<tool_call>", Special::kAsText), Ids{*call});
}

TEST(Tokenizer, KnowsWhatEndsAnAnswer) {
  const Family family("qwen2");
  const Tokenizer& tokenizer = family.tokenizer();
  for (const char* name : {"<|im_end|>", "<|endoftext|>"}) {
    EXPECT_TRUE(tokenizer.IsEndOfGeneration(*tokenizer.Find(name))) << name;
  }
  EXPECT_FALSE(tokenizer.IsEndOfGeneration(*tokenizer.Find("<|im_start|>")));
  EXPECT_FALSE(tokenizer.IsEndOfGeneration(0));
  EXPECT_FALSE(tokenizer.IsEndOfGeneration(-1));
  EXPECT_FALSE(tokenizer.IsEndOfGeneration(1 << 30));
  EXPECT_EQ(tokenizer.control_texts().size(), 5U);
}

TEST(Tokenizer, FindIsTheInverseOfPiece) {
  const Family family("llama-bpe");
  for (std::size_t i = 0; i < family.tokenizer().vocab_size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    EXPECT_EQ(family.tokenizer().Find(family.tokenizer().Piece(id)), id);
  }
  EXPECT_EQ(family.tokenizer().Find(""), std::nullopt);
  EXPECT_EQ(family.tokenizer().Find("no such piece"), std::nullopt);
  EXPECT_EQ(family.tokenizer().Piece(-1), "");
}

// A megabyte without a place to cut, in every family: n log n or this never ends.
TEST(Tokenizer, LongRunsTakeNoQuadraticTime) {
  for (const char* name : {"qwen2", "gemma"}) {
    const Family family(name);
    for (const char* unit : {"a", "ab", "=", "\u4f60"}) {
      std::string text;
      while (text.size() < 1'000'000) text += unit;
      EXPECT_EQ(family.Decode(family.Encode(text)), text);
    }
  }
}

// The heap for long words and the scan for short ones give the same: a word of many equal
// parts that do not merge across becomes the part's tokens again and again.
TEST(Tokenizer, LongWordsMergeLikeShortOnes) {
  const Family family("gpt-2");
  const std::string unit = "quickbrownfoxjumpsoverthelazydogZ";
  const Ids once = family.Encode(unit);
  Ids expected;
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += unit;
    expected.insert(expected.end(), once.begin(), once.end());
  }
  EXPECT_EQ(family.Encode(text), expected);
}

TEST(Tokenizer, ThreadsShareOneObject) {
  const Family family("qwen2");
  const std::string text = "The quick brown fox doesn't mind; 你好，世界。";
  const Ids expected = family.Encode(text);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) EXPECT_EQ(family.Encode(text), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Tokenizer, SpacePrefixIsTheSpecs) {
  const Family prefixed("sentencepiece");
  EXPECT_EQ(prefixed.Decode(prefixed.Encode("The dog")), " The dog");
  EXPECT_TRUE(prefixed.Encode("").empty());
  const Family plain("gemma");
  EXPECT_EQ(plain.Decode(plain.Encode("The dog")), "The dog");
}

}  // namespace
}  // namespace vivace
