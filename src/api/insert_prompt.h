// Prompts that ask a code model for what stands between two texts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace vivace {

// Nothing where the model has no tokens for it.
std::optional<std::vector<TokenId>> InsertPrompt(const Tokenizer& tokenizer,
                                                 const std::string& prefix,
                                                 const std::string& suffix);

}  // namespace vivace
