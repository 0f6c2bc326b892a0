// Builds the tables that a Tokenizer works from.
//
// The tables are one block of bytes without pointers, meant to be stored in a file and used
// in place when mapped again: opening them parses nothing. See table_view.h for the layout.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "tokenizer/spec.h"

namespace vivace {

// kUnsupported for a model or pre-split that is not implemented (the message lists the known
// ones), kBadInput for a spec that contradicts itself. Of equal tokens the first counts.
// Takes about half a second for 150000 tokens.
Result<std::vector<std::byte>> BuildTables(const TokenizerSpec& spec);

}  // namespace vivace
