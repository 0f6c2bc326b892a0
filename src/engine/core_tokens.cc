// EngineCore, the part about tokens: which drafted ones are verified, and what happens to those
// that were chosen.
#include <algorithm>

#include "base/clock.h"
#include "engine/core.h"

namespace vivace {
namespace {

// The chance from which on a token that was found is taken as it is.
constexpr float kLikely = 0.7F;

// A step that takes so long is worth every guess.
constexpr double kPatientMs = 1e9;

}  // namespace

std::shared_ptr<DraftKnowledge> EngineCore::KnowledgeFor(const GenerateRequest& request) {
  const bool wanted = options_.speculation != Speculation::kOff && request.speculation;
  return wanted && request.max_tokens != 0 ? answers_.Of(request.owner) : nullptr;
}

// Prompts wait for no draft: only steps without them have any.
void EngineCore::PlanDrafts() {
  asked_model_ = false;
  const auto sequences = static_cast<std::int64_t>(parts_.size());
  const bool always = options_.speculation == Speculation::kAlways;
  if (options_.speculation == Speculation::kOff || sequences == 0) return;
  if (!always && !draft_control_.Open(sequences)) return;
  offers_.clear();
  for (const StepPart& part : parts_) {
    if (!part.decodes) return;
    offers_.push_back({.tokens = part.sequence->Draft()});
  }
  if (draft_model_ && sequences == 1) {
    AskDraftModel(always ? kPatientMs : draft_control_.cost().Ms(1));
  }
  if (always) {
    const std::int64_t each = std::max(DraftControl::kMostRows / sequences - 1, std::int64_t{0});
    for (DraftControl::Offer& offer : offers_) {
      offer.taken = std::min(each, static_cast<std::int64_t>(offer.tokens.size()));
    }
  } else {
    draft_control_.Decide(offers_);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].draft = offers_[i].tokens.first(static_cast<std::size_t>(offers_[i].taken));
    parts_[i].rows += offers_[i].taken;
  }
}

// What was found costs nothing: the model is asked where that is not likely to be right.
void EngineCore::AskDraftModel(double step_ms) {
  DraftControl::Offer& offer = offers_.front();
  const Sequence& sequence = *parts_.front().sequence;
  if (!sequence.drafts()) return;
  if (!offer.tokens.empty() && offer.tokens.front().reach >= kLikely) return;
  const auto draft = draft_model_->Propose(sequence.tokens(), sequence.most_drafted(), step_ms);
  if (draft.empty()) return;
  offer.tokens = draft;
  asked_model_ = true;
}

void EngineCore::Evaluated(Sequence& sequence) {
  cache_.Insert(sequence.tokens(), sequence.path(), sequence.kv());
  if (sequence.timings().decoded_tokens > 0) return;
  sequence.Progress(stepper_.evaluated_ms());
  courier_.SaveProgress(sequence.path());
}

bool EngineCore::Take(StepPart& part) {
  Sequence& sequence = *part.sequence;
  if (!part.decodes) Evaluated(sequence);
  const std::int64_t before = sequence.timings().decoded_tokens;
  part.ended = sequence.Take(part.choice, NowMs(), part.reason);
  metrics_.tokens_generated.Add(sequence.timings().decoded_tokens - before);
  return !part.ended && !sequence.cancelled();
}

void EngineCore::AfterStep(StepPart& part) {
  Sequence& sequence = *part.sequence;
  CountDrafts(part);
  if (asked_model_) draft_model_->Judge(static_cast<std::int64_t>(part.draft.size()), part.right);
  if (part.decodes || !part.chooses) Evaluated(sequence);
  if (part.ended || (!part.chooses && sequence.remaining() == 0)) {
    Finish(sequence, part.reason);
  } else if (part.chooses && sequence.full()) {
    // Keys hold their positions, so what stays is evaluated anew at its new ones.
    cache_.Leave(sequence.tokens(), sequence.path(), sequence.kv(), "");
    sequence.path() = {};
    sequence.Shift();
  }
}

void EngineCore::CountDrafts(const StepPart& part) {
  if (part.draft.empty()) return;
  GenerateTimings& timings = part.sequence->timings();
  metrics_.drafts.Add(1);
  timings.drafted_tokens += static_cast<std::int64_t>(part.draft.size());
  timings.accepted_tokens += part.right;
  for (std::size_t i = 0; i < part.draft.size(); ++i) {
    const auto source = static_cast<std::size_t>(part.draft[i].source);
    metrics_.drafted[source].Add(1);
    if (static_cast<std::int64_t>(i) < part.right) metrics_.accepted[source].Add(1);
  }
}

void EngineCore::Remember(const Sequence& sequence) {
  if (KnowledgeFor(sequence.request())) {
    answers_.Remember(sequence.request().owner, sequence.answer());
  }
}

}  // namespace vivace
