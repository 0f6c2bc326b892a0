// GbnfGrammar: a parsed GBNF grammar: rules by number, and one flat list of nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

struct GbnfPlace {
  std::size_t line = 1;
  std::size_t column = 1;  // in bytes
};
Failure FailAt(GbnfPlace place, const std::string& message);

struct GbnfNode {
  enum class Kind : std::uint8_t {
    kLiteral,    // text
    kClass,      // one character
    kToken,      // one token
    kRule,       // what that rule stands for
    kSequence,   // children, one after the other
    kAlternate,  // one of the children
    kRepeat,     // the one child, least to most times
  };
  static constexpr std::uint32_t kEndless = 0xFFFFFFFF;

  Kind kind;
  GbnfPlace place = {};
  std::string text = {};                                   // UTF-8
  std::vector<std::pair<char32_t, char32_t>> ranges = {};  // of a class
  bool negated = false;                                    // class or token
  TokenId token = 0;
  std::size_t rule = 0;                    // of kRule; of kToken the one that it stands in
  std::vector<std::size_t> children = {};  // numbers of nodes
  std::uint32_t least = 0;
  std::uint32_t most = 0;
};

struct GbnfRule {
  static constexpr std::size_t kUndefined = static_cast<std::size_t>(-1);
  std::string name;
  GbnfPlace place;                     // of its first mention
  std::size_t node = kUndefined;       // what it stands for
  std::vector<std::size_t> uses = {};  // rules that it mentions
  bool regular = false;                // whether a regular expression can say the same
};

struct GbnfGrammar {
  std::vector<GbnfRule> rules;
  std::vector<GbnfNode> nodes;
  std::size_t root = 0;
};

// Parses and checks: every rule is defined, "root" is there, none is left-recursive.
Result<GbnfGrammar> ParseGbnf(std::string_view text, const Tokenizer& tokenizer);
// The checks of it, and which rules are regular.
Result<void> CheckGbnfRules(GbnfGrammar& grammar);

}  // namespace vivace
