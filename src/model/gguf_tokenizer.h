// Reads what a GGUF file says about its tokenizer.
#pragma once

#include "base/result.h"
#include "tokenizer/spec.h"

namespace vivace {

class GgufFile;

// The spec's texts are views into `file`, which must outlive it.
Result<TokenizerSpec> ReadTokenizerSpec(const GgufFile& file);

}  // namespace vivace
