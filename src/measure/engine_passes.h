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

#include "base/buffer.h"
#include "base/result.h"
#include "base/thread_team.h"
#include "kv/sequence_kv.h"
#include "measure/engine_plan.h"
#include "model/model.h"
#include "model/workspace.h"

namespace vivace {

class EnginePasses {
 public:
  static Result<std::unique_ptr<EnginePasses>> Create(const Model& model, ThreadTeam& team,
                                                      const EngineBenchOptions& options,
                                                      const EngineBenchPlan& plan);

  // Evaluates prompts of the ascending `lengths`, each as the start of the next one; the
  // seconds from the start to the logits of each.
  std::vector<double> Prompts(std::span<const std::int64_t> lengths);

  // Seconds of `steps` steps of `sequences` at `context` positions.
  double Decode(std::int64_t sequences, std::int64_t context, std::int64_t steps);

 private:
  EnginePasses(const Model& model, ThreadTeam& team, std::int64_t chunk, PagePool pool,
               Workspace space, Buffer logits)
      : model_(model),
        team_(team),
        chunk_(chunk),
        pool_(std::move(pool)),
        space_(std::move(space)),
        logits_(std::move(logits)),
        pattern_(pool_) {}

  void Evaluate(SequenceKv& kv, std::int64_t count);
  void FillFrom(const SequenceKv& pattern, SequenceKv& kv, std::int64_t context) const;
  TokenId Token(std::int64_t position) const;

  const Model& model_;
  ThreadTeam& team_;
  std::int64_t chunk_;
  PagePool pool_;
  Workspace space_;
  Buffer logits_;
  SequenceKv pattern_;  // the short prompt
};

}  // namespace vivace
