// The tables of a small tokenizer: every byte, a few merges, a control and a user-defined token.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/tables.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

inline std::vector<std::byte> ByteVocabulary(const char* pre) {
  std::vector<std::string> tokens;
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool visible = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    AppendUtf8(visible ? byte : next++, tokens.emplace_back());
  }
  const std::vector<std::string> merges = {
      "t h", "th e", "a a", "aa aa", "\u0120 the", "\u00e4 \u00bd", "\u00e4\u00bd \u0142", "1 2"};
  for (std::string merge : merges) {
    merge.erase(merge.find(' '), 1);
    tokens.push_back(std::move(merge));
  }
  tokens.insert(tokens.end(), {"<end>", "<call>"});
  TokenizerSpec spec;
  spec.model = "gpt2";
  spec.pre = pre;
  spec.tokens.assign(tokens.begin(), tokens.end());
  spec.merges.assign(merges.begin(), merges.end());
  spec.types.assign(tokens.size(), TokenType::kNormal);
  spec.types[tokens.size() - 2] = TokenType::kControl;
  spec.types[tokens.size() - 1] = TokenType::kUserDefined;
  auto tables = BuildTables(spec);
  if (!tables) std::abort();
  return std::move(*tables);
}

}  // namespace vivace
