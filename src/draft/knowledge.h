// DraftKnowledge: what the sequences of one owner share: their answers and what came of drafts.
//
// Bounded: the newest answers, a successor for each token, a few means. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"
#include "draft/acceptance.h"
#include "draft/successors.h"
#include "draft/token_index.h"

namespace vivace {

struct DraftKnowledge {
  static constexpr std::int64_t kAnswerTokens = 1 << 16;  // the newest ones are kept

  explicit DraftKnowledge(std::int64_t vocab_size);
  void Clear();
  // Takes in a finished answer.
  void Remember(std::span<const TokenId> answer);

  // All answers that are kept, with breaks between them, and the same taken in again. The tokens
  // are in the vocabulary or breaks.
  std::vector<TokenId> Answers() const;
  void Restore(std::span<const TokenId> answers);

  TokenIndex answers;
  Successors successors;
  Acceptance acceptance;
};

}  // namespace vivace
