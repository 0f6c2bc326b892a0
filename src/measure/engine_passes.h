// EnginePasses: the forward passes that a benchmark times, with the memory they need.
//
// Prompts are evaluated as the generator does it. Contexts are filled by repeating the keys
// and values of one short prompt that was. All pages come from one pool that the plan has
// sized, so nothing here fails once it is made.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/page_promotion.h"
#include "base/result.h"
#include "base/thread_team.h"
#include "engine/prefetch_tuning.h"
#include "kv/sequence_kv.h"
#include "measure/engine_plan.h"
#include "measure/token_chooser.h"
#include "model/model.h"
#include "model/workspace.h"

namespace vivace {

// What a pass or several took.
struct Timed {
  double seconds = 0;
  double output_bytes = 0;  // read of the output matrix or its coarse head
};

class EnginePasses {
 public:
  static Result<std::unique_ptr<EnginePasses>> Create(const Model& model, ThreadTeam& team,
                                                      const EngineBenchOptions& options,
                                                      const EngineBenchPlan& plan);

  // Brings the model to where it is after some hundred tokens: both of the next.
  PrefetchTuning Settle(PrefetchTuning known);
  // The prefetch distance, found unless `known` has it; used from now on.
  PrefetchTuning FindPrefetch(PrefetchTuning known);
  // The weights on huge pages where that pays. Returns the bytes that were moved.
  std::size_t Promote();
  // From now on. Precondition: at most the options' prompt_chunk.
  void SetChunk(std::int64_t chunk) { chunk_ = chunk; }

  // Evaluates prompts of the ascending `lengths`, each as the start of the next one; what
  // each took from the start to its next token.
  std::vector<Timed> Prompts(std::span<const std::int64_t> lengths);

  // `steps` steps of `sequences` at `context` positions.
  Timed Decode(std::int64_t sequences, std::int64_t context, std::int64_t steps);

 private:
  EnginePasses(const Model& model, ThreadTeam& team, std::int64_t chunk, PagePool pool,
               Workspace space, TokenChooser chooser);

  void Evaluate(SequenceKv& kv, std::int64_t count);
  void FillFrom(const SequenceKv& pattern, SequenceKv& kv, std::int64_t context) const;
  TokenId Token(std::int64_t position) const;

  const Model& model_;
  ThreadTeam& team_;
  std::int64_t chunk_;
  PagePool pool_;
  Workspace space_;
  TokenChooser chooser_;
  std::vector<TokenId> text_;
  PagePromotion promotion_;
  SequenceKv pattern_;  // the short prompt
};

}  // namespace vivace
