// Drafter: guesses how one sequence goes on.
//
// Token by token the source whose guesses have been right most often for such evidence: the
// longest run of the sequence's own end that it had before, that earlier answers had, or what
// has come after the last token. Remembers how each source would have done at every token,
// drafted or not. Nothing allocates once it is made. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"
#include "draft/acceptance.h"
#include "draft/knowledge.h"
#include "draft/token_index.h"

namespace vivace {

struct DraftToken {
  TokenId token = 0;
  DraftSource source = DraftSource::kConversation;
  float reach = 0;  // the chance that this token and all drafted before it are right
};

class Drafter {
 public:
  static constexpr std::int64_t kMostTokens = 15;
  // Of a longer conversation the newest tokens are searched.
  static constexpr std::int64_t kMostSearched = 1 << 16;

  // For a sequence that begins with `prompt` and gets up to `longest` tokens. `shared` must
  // outlive this object.
  Drafter(std::span<const TokenId> prompt, std::int64_t longest, DraftKnowledge& shared);

  // The sequence's next token.
  void Append(TokenId token);

  // The likely next tokens, at most `most` of them and kMostTokens; empty where there is no
  // idea. Valid until the next call of this one.
  std::span<const DraftToken> Propose(std::int64_t most);

 private:
  struct Guess {
    TokenId token = TokenIndex::kBreak;
    int evidence = 0;
  };
  // A source that is followed while a draft is made.
  struct Trail {
    const TokenIndex* index = nullptr;
    TokenIndex::Match match;
    // `draft` is what comes after the sequence's own tokens: a match may go on in it.
    Guess Now(std::span<const DraftToken> draft = {}) const;
  };

  using Trails = std::array<Trail, 2>;               // of conversation and memory
  using Guesses = std::array<Guess, kFoundSources>;  // in the order of DraftSource

  std::span<const TokenId> recent() const;
  // What the sources say about the next token.
  void Search();
  // After `last` and, where that is drafted, the draft so far.
  Guesses GuessNext(const Trails& trails, TokenId last, std::span<const DraftToken> draft) const;
  static DraftEvidence EvidenceFor(const Guesses& guesses, std::size_t source);

  DraftKnowledge& shared_;
  TokenIndex conversation_;
  std::vector<TokenId> recent_;  // the newest tokens, at least kLongest of them where there are
  Trails trails_;                // as after the last token
  bool searched_ = false;
  std::vector<DraftToken> draft_;
};

}  // namespace vivace
