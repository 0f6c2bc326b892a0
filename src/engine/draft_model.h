// DraftModel: a smaller model of the same vocabulary guesses how one sequence goes on.
//
// Greedily, a token for each reading of its weights, for as long as a guess is likely to save
// more than it costs. Reads what it has not seen of a sequence in pieces, beside several
// steps, and keeps keys and values of one sequence: another one takes over from where they
// differ. Where it has cost more than it has saved it rests for a while. Used between
// steps by the thread that runs the engine; computes on its team.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/thread_team.h"
#include "base/token_id.h"
#include "draft/drafter.h"
#include "engine/stepper.h"
#include "kv/page_pool.h"
#include "kv/sequence_kv.h"
#include "model/model.h"

namespace vivace {

class DraftModel {
 public:
  // For sequences of up to `context` tokens. Both must outlive this object.
  static Result<std::unique_ptr<DraftModel>> Create(const Model& model, ThreadTeam& team,
                                                    std::int64_t context);
  // kBadInput, with the first token that differs, where guesses of `draft` say nothing about
  // `model`. Tokens that only one of the two has, at the end, are none.
  static Result<void> Check(const Model& model, const Model& draft);

  // The likely next tokens after `tokens`, at most `most`; empty where nothing is likely enough,
  // or while it still reads. A step without drafts costs `step_ms`. Valid until the next call.
  std::span<const DraftToken> Propose(std::span<const TokenId> tokens, std::int64_t most,
                                      double step_ms);
  // Of the last draft so many tokens were verified, and so many of these were right.
  void Judge(std::int64_t verified, std::int64_t right);

 private:
  static constexpr std::size_t kLevels = 10;
  struct Guess {
    TokenId token;
    std::size_t level;  // of confidence
  };
  struct Count {
    float right;
    float all;
  };

  DraftModel(const Model& model, PagePool pool, Stepper stepper, std::int64_t context);
  // False: there is more to read.
  bool CatchUp(std::span<const TokenId> tokens);
  // Appends to what was read; `chooses`: logits after the last one are wanted.
  void Read(std::span<const TokenId> tokens, bool chooses);
  Guess Best();

  const Model& model_;
  std::int64_t context_;
  PagePool pool_;
  SequenceKv kv_;
  Stepper stepper_;
  std::vector<TokenId> read_;          // what kv_ holds
  std::vector<DraftToken> draft_;      // the last one
  std::vector<std::size_t> levels_;    // of its tokens
  std::array<Count, kLevels> counts_;  // of guesses of each level
  double sweep_ms_ = 0;                // of one row
  double step_ms_ = 0;                 // without drafts, when the last draft was made
  double spent_ms_ = 0;                // on that draft
  double balance_ms_ = 0;              // saved less spent, of late
  int rest_ = 0;                       // steps without a draft
};

}  // namespace vivace
