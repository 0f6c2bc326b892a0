// Prompts that ask a code model for what stands between two texts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace vivace {

// The control tokens that mark the parts of a prompt, by the names that models give them.
struct InfillTokens {
  TokenId prefix;
  TokenId suffix;
  TokenId middle;
  std::optional<TokenId> repository;
  std::optional<TokenId> file;
};

// Nothing where the model has no tokens for a missing middle.
std::optional<InfillTokens> FindInfillTokens(const Tokenizer& tokenizer);

struct OtherFile {
  std::string name;
  std::string text;
};

struct InfillInput {
  std::string prefix;
  std::string suffix;
  std::string begun = {};  // the beginning of the answer
  std::vector<OtherFile> files = {};
};

// Other files first, then the one with the gap: what is before it, with the beginning of
// the answer, and what is after it. What people wrote stays text, whatever it looks like.
std::vector<TokenId> InfillPrompt(const InfillInput& input, const InfillTokens& tokens,
                                  const Tokenizer& tokenizer);

}  // namespace vivace
