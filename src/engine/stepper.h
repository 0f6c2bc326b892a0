// Stepper: runs one step: a forward pass over rows of several sequences, then the choice
// of a token for each that has reached its end.
//
// The one place where the model is evaluated. Owns the memory of the pass. Several rows
// share one sweep of the output matrix; which tokens come out does not depend on that.
// Used by the thread that leads the team. A step allocates nothing, but for logprobs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/page_promotion.h"
#include "base/result.h"
#include "base/thread_team.h"
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
  std::int64_t rows = 0;  // of its remaining tokens, to evaluate
  bool chooses = false;   // a token after the last of them
  Choice choice;          // then
};

class Stepper {
 public:
  // Rows whose logits are computed at once.
  static constexpr std::int64_t kLogitRows = 16;

  // For steps of up to `max_rows` rows of up to `max_parts` sequences. `model` and `team`
  // must outlive this object.
  static Result<Stepper> Create(const Model& model, ThreadTeam& team, std::int64_t max_rows,
                                std::int64_t max_parts, const PrefetchTuning& prefetch);

  // Evaluates and chooses. The pool must have the pages that the sequences grow by.
  void Run(std::span<StepPart> parts);

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
  void Pool();
  void Choose(std::int64_t first, std::span<StepPart* const> parts);
  std::span<const TokenMask> MasksOf(std::span<StepPart* const> parts);
  bool TryCoarse(std::span<StepPart* const> parts) const;
  void ChooseCoarsely(std::int64_t first, std::span<StepPart* const> parts);
  void ChooseFromAll(std::int64_t first, std::span<StepPart* const> parts);
  // Calls choose(i) for i in [0, count), on all threads of the team.
  template <class Function>
  void ForEachPart(std::size_t count, const Function& choose);
  std::span<const float> Row(std::size_t row);
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
  std::vector<StepPart*> pooling_;    // of requests that want an embedding
  std::vector<HeadResult> found_;     // [kLogitRows]
  std::vector<TokenMask> masks_;      // [kLogitRows]
  std::vector<std::uint8_t> chosen_;  // [kLogitRows]: whether the coarse head was enough
  double evaluated_ms_ = 0;
};

}  // namespace vivace
