// What the tests of this module share: a small vocabulary, its tokenizer and a compiler, and
// answers that follow a grammar blindly.
#pragma once

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "constrain/constraint.h"
#include "constrain/grammar.h"
#include "tokenizer/spec_json.h"
#include "tokenizer/tables.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

class SmallVocabulary {
 public:
  SmallVocabulary() {
    const char* root = std::getenv("VIVACE_SOURCE_DIR");
    const std::string path =
        std::string(root != nullptr ? root : ".") + "/tests/data/tokenizer/smollm.json";
    const auto owned = ReadSpecJson(path);
    tables_ = *BuildTables((*owned)->spec);
    tokenizer_ = std::make_unique<Tokenizer>(*Tokenizer::Open(tables_));
    compiler_ = std::make_unique<GrammarCompiler>(*tokenizer_, vocab_size(), GrammarLimits{});
  }

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  // As models have it, larger than the tokenizer's.
  std::size_t vocab_size() const { return tokenizer_->vocab_size() + 5; }
  GrammarCompiler& compiler() { return *compiler_; }

 private:
  std::vector<std::byte> tables_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<GrammarCompiler> compiler_;
};

inline SmallVocabulary& Small() {
  static SmallVocabulary vocabulary;
  return vocabulary;
}

inline TokenId EndToken() {
  TokenId token = 0;
  while (!Small().tokenizer().IsEndOfGeneration(token)) ++token;
  return token;
}

inline std::shared_ptr<const Grammar> MustCompile(const GrammarSource& source) {
  auto grammar = Small().compiler().Compile(source);
  EXPECT_TRUE(grammar.has_value()) << grammar.error().message;
  return grammar ? *grammar : nullptr;
}

inline std::string CompileError(const GrammarSource& source) {
  const auto grammar = Small().compiler().Compile(source);
  return grammar ? "compiled" : grammar.error().message;
}

inline bool Allowed(std::span<const std::uint32_t> mask, TokenId token) {
  const auto at = static_cast<std::size_t>(token);
  return (mask[at / 32] >> (at % 32) & 1U) != 0;
}

// Whether a text is in the language, cut into single bytes: that need not be how masks cut it.
inline bool Accepts(const std::shared_ptr<const Grammar>& grammar, std::string_view text) {
  const Tokenizer& tokenizer = Small().tokenizer();
  Constraint constraint({.grammar = grammar}, tokenizer, Small().vocab_size());
  for (const char c : text) {
    const auto token = tokenizer.Find(std::string_view(&c, 1));
    if (!token || constraint.complete()) return false;
    constraint.Accept(*token);
    if (constraint.failure()) return false;
  }
  if (constraint.complete()) return true;
  const auto mask = constraint.Mask();
  return !mask.empty() && Allowed(mask, EndToken());
}

// A text of the language, by tokens drawn from the masks.
inline std::string Babble(const std::shared_ptr<const Grammar>& grammar, std::uint32_t seed,
                          std::size_t most = 400) {
  const Tokenizer& tokenizer = Small().tokenizer();
  Constraint constraint({.grammar = grammar}, tokenizer, Small().vocab_size());
  std::mt19937 random(seed);
  std::string text;
  for (std::size_t count = 0; count < most && !constraint.complete(); ++count) {
    const auto mask = constraint.Mask();
    std::vector<TokenId> choices;
    for (std::size_t id = 0; id < Small().vocab_size(); ++id) {
      if (Allowed(mask, static_cast<TokenId>(id))) choices.push_back(static_cast<TokenId>(id));
    }
    EXPECT_FALSE(choices.empty()) << text;
    if (choices.empty()) break;
    const TokenId token = choices[random() % choices.size()];
    if (tokenizer.IsEndOfGeneration(token)) return text;
    text += tokenizer.Piece(token);
    constraint.Accept(token);
    EXPECT_FALSE(constraint.failure()) << constraint.failure()->message;
  }
  return constraint.complete() ? text : "";
}

}  // namespace vivace
