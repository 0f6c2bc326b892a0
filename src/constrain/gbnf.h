// GBNF, the grammars of llama.cpp, and their translation to the Lark dialect that the
// matcher reads.
//
// What is regular becomes one terminal, however many rules it is spread over: there the
// translation is exact. Where a rule that refers to itself stands beside regular parts, each
// of these takes the longest text that it can. So every text belongs to the GBNF grammar; in
// grammars that are ambiguous at such a place, not every text of it can be written.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

// kBadInput with line and column, and the rule's name where it is undefined or refers to
// itself before anything else. `tokenizer` knows the tokens that <name> stands for.
Result<std::string> LarkFromGbnf(std::string_view text, const Tokenizer& tokenizer);

}  // namespace vivace
