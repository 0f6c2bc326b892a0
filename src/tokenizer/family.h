// The tokenizer families that are implemented, by the names that GGUF files use.
#pragma once

#include "base/result.h"
#include "tokenizer/spec.h"
#include "tokenizer/table_view.h"

namespace vivace {

struct TokenizerFamily {
  PreRules pre = PreRules::kNone;
  bool ignore_merges = false;  // a word that is a token is taken whole
  bool normalize = false;      // to NFC
};

// kUnsupported, with a list of what is known.
Result<TokenizerFamily> FindFamily(const TokenizerSpec& spec);

}  // namespace vivace
