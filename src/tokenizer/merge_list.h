// The merges of a tokenizer, best first, as pairs of ids. Used while building tables.
#pragma once

#include <vector>

#include "base/result.h"
#include "tokenizer/spec.h"
#include "tokenizer/table_view.h"
#include "tokenizer/vocabulary.h"

namespace vivace {

// For BPE the spec's list, in which a pair that comes twice counts once; kBadInput for a
// merge of or into something that is no token. For SentencePiece every way to cut a token
// into two tokens, by falling score.
Result<std::vector<PairSlot>> ListMerges(const TokenizerSpec& spec, const Vocabulary& vocabulary);

}  // namespace vivace
