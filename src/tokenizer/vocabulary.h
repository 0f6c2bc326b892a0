// Vocabulary: the tokens of a spec as the bytes they stand for. Used while building tables.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "tokenizer/spec.h"

namespace vivace {

struct Vocabulary {
  std::vector<std::string> pieces;         // [tokens]
  std::vector<TokenType> types;            // [tokens]
  std::array<TokenId, 256> byte_ids = {};  // -1: none

  // Normal and user-defined tokens: what text consists of.
  bool IsText(std::size_t token) const {
    return !pieces[token].empty() &&
           (types[token] == TokenType::kNormal || types[token] == TokenType::kUserDefined);
  }
  // What is looked for in text before anything else.
  bool IsSpecial(std::size_t token) const {
    return !pieces[token].empty() &&
           (types[token] == TokenType::kControl || types[token] == TokenType::kUnknown ||
            types[token] == TokenType::kUserDefined);
  }
};

// kBadInput where the spec contradicts itself.
Result<Vocabulary> ReadVocabulary(const TokenizerSpec& spec);

}  // namespace vivace
