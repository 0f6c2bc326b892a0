// Stepper: runs one step: a forward pass over rows of several sequences, then the choice
// of a token for each that has reached its end, and of more where a draft was right.
//
// The one place where the model is evaluated. Owns the memory of the pass. Several rows
// share one sweep of the output matrix; which tokens come out does not depend on that.
// Used by the thread that leads the team. A step allocates nothing, but for logprobs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/page_promotion.h"
#include "base/result.h"
#include "base/thread_team.h"
#include "draft/drafter.h"
#include "engine/mask_ahead.h"
#include "engine/prefetch_tuning.h"
#include "engine/sequence.h"
#include "model/forward.h"
#include "model/head_search.h"
#include "model/model.h"
#include "model/workspace.h"

namespace vivace {

// What a step does for one sequence.
struct StepPart {
  Sequence* sequence = nullptr;
  std::int64_t rows = 0;  // of its remaining tokens and then of the draft, to evaluate
  bool chooses = false;   // a token after the last of its own
  bool decodes = false;   // not a part of a prompt
  std::span<const DraftToken> draft = {};  // how it may go on; only where it chooses
  Choice choice = {};                      // of the next token
  // Whether it ended with a token, and why.
  bool ended = false;
  FinishReason reason = FinishReason::kLength;
  // The step's own: its first row, the number of its first row with logits, and how many of its
  // drafted tokens have turned out right.
  std::int64_t first_row = 0;
  std::int64_t first_output = 0;
  std::int64_t right = 0;
  bool open = false;  // another token can be chosen

  std::int64_t outputs() const { return 1 + static_cast<std::int64_t>(draft.size()); }
  std::int64_t output() const { return first_output + right; }  // the next token's row
};

class Stepper {
 public:
  // Rows whose logits are computed at once.
  static constexpr std::int64_t kLogitRows = 16;

  // For steps of up to `max_rows` rows of up to `max_parts` sequences. `model` and `team`
  // must outlive this object.
  static Result<Stepper> Create(const Model& model, ThreadTeam& team, std::int64_t max_rows,
                                std::int64_t max_parts, const PrefetchTuning& prefetch);

  // From now on the masks of constrained sequences are computed beside the evaluation, on a
  // thread of their own.
  void ComputeMasksAhead();

  // Called between choices with each part that has one: gives it to the sequence. False where
  // nothing more is to be chosen for it.
  using Taker = std::function<bool(StepPart&)>;

  // Evaluates and chooses. The pool must have the pages that the sequences grow by. Keys and
  // values of drafted tokens that were wrong are gone afterwards.
  void Run(std::span<StepPart> parts, const Taker& take);

  // Evaluates only: afterwards Logits gives those of batch.output_rows.
  void Evaluate(const Batch& batch);
  // Logits of `rows` output rows from number `first` on: [rows, LogitsStride], valid until
  // the next call. Precondition: rows <= kLogitRows.
  const float* Logits(std::int64_t first, std::int64_t rows);

  const PrefetchTuning& prefetch() const { return prefetch_; }
  // NowMs between evaluation and choice of the last step.
  double evaluated_ms() const { return evaluated_ms_; }

 private:
  Stepper(const Model& model, ThreadTeam& team, Workspace space, Buffer logits,
          std::int64_t max_parts, const PrefetchTuning& prefetch);

  void Prepare(StepPart& part);
  void StartMasks();
  void Pool();
  // Of the parts whose rows all have logits: how likely the next tokens of their prompts were.
  void ScorePrompts();
  void FinishMasks();
  // For parts whose rows share a sweep: rounds of one token for each that is open.
  void Choose(std::span<StepPart* const> parts, const Taker& take);
  std::span<const TokenMask> MasksOf(std::span<StepPart* const> parts);
  bool TryCoarse(std::span<StepPart* const> parts) const;
  void FindLargest(std::span<StepPart* const> parts);
  void ComputeAll(std::int64_t first, std::int64_t end);
  bool ChooseOne(StepPart& part);
  void ChooseRound(std::span<StepPart* const> parts);
  static void Advance(StepPart& part, const Taker& take);
  // Calls choose(i) for i in [0, count), on all threads of the team.
  template <class Function>
  void ForEachPart(std::size_t count, const Function& choose);
  std::span<const float> Row(std::int64_t output);
  // Between two steps: what makes the next ones faster.
  void Tune(double evaluation_ms);

  const Model* model_;
  ThreadTeam* team_;
  Workspace space_;
  Buffer logits_memory_;                   // [kLogitRows, LogitsStride]
  std::optional<HeadSearch> head_search_;  // where the model has a coarse head
  PrefetchTuning prefetch_;
  PagePromotion promotion_;
  std::int64_t decode_steps_ = 0;
  std::vector<TokenId> tokens_;
  std::vector<SequenceSlice> slices_;
  std::vector<std::int64_t> output_rows_;
  std::vector<StepPart*> choosing_;
  std::vector<StepPart*> pooling_;         // of requests that want an embedding
  std::vector<StepPart*> scoring_;         // of requests that score their prompt
  std::vector<StepPart*> open_;            // of those that share a sweep
  std::vector<HeadResult> found_;          // [kLogitRows]
  std::vector<TokenMask> masks_;           // [kLogitRows]
  std::vector<Sequence*> masked_;          // constrained ones that choose
  std::unique_ptr<MaskAhead> mask_ahead_;  // or null: masks are computed where they are needed
  std::vector<std::uint8_t> chosen_;       // [kLogitRows]: whether the coarse head was enough
  // What logits_memory_ holds: rows from this one on, of the largest logits or of all.
  std::int64_t first_logits_ = 0;
  bool coarse_ = false;
  std::int64_t groups_read_ = 0;  // by all rows of found_
  double evaluated_ms_ = 0;
};

}  // namespace vivace
