// Sequence: a running request: its tokens, keys and values, sampler and text.
//
// Knows what a token means to its request (stop strings, limits, end of generation) and
// tells the request's sink; knows nothing of the others. Not thread-safe; the team's
// threads may choose for different sequences at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "constrain/constraint.h"
#include "draft/drafter.h"
#include "draft/knowledge.h"
#include "engine/coarse_policy.h"
#include "engine/request.h"
#include "engine/text_output.h"
#include "kv/prefix_cache.h"
#include "kv/sequence_kv.h"
#include "model/head_search.h"
#include "model/model.h"
#include "sampling/sampler.h"

namespace vivace {

// A request that waits for its turn.
struct Submission {
  GenerateRequest request;
  EventSink sink;
  std::stop_token cancel;
  double arrival_ms = 0;  // NowMs
};

class Sequence {
 public:
  // Everything passed must outlive this object. `context` bounds prompt and answer. With
  // `knowledge`, and where the request allows it, drafts are made.
  // Precondition: the request was checked.
  Sequence(Submission submission, const Model& model, PagePool& pool, std::int64_t context,
           std::shared_ptr<DraftKnowledge> knowledge = nullptr);

  SequenceKv& kv() { return kv_; }
  std::int64_t kv_size() const { return kv_.size(); }  // positions evaluated
  CachePath& path() { return path_; }
  GenerateTimings& timings() { return timings_; }
  const GenerateRequest& request() const { return submission_.request; }
  double arrival_ms() const { return submission_.arrival_ms; }
  bool background() const { return request().priority == Priority::kBackground; }
  bool cancelled() const { return submission_.cancel.stop_requested(); }

  // The prompt and what was generated; keys and values lag behind.
  std::span<const TokenId> tokens() const { return tokens_; }
  std::int64_t remaining() const { return length() - kv_.size(); }
  // Whether only the newest token is still to be evaluated, and those that were forced after
  // it: not after a shift.
  bool decoding() const { return timings_.decoded_tokens > 0 && remaining() <= 1 + forced_; }
  std::int64_t forced() const { return forced_; }  // tokens after the newest chosen one
  bool wants_tokens() const { return limit_ > 0; }
  bool finished() const { return finished_; }
  bool shifted() const { return timings_.dropped_tokens > request().dropped; }
  // Pages of keys and values that it may need in total.
  std::int64_t pages_at_most() const { return PagesAtMost(submission_.request, context_); }
  static std::int64_t PagesAtMost(const GenerateRequest& request, std::int64_t context);

  // How it may go on after its newest token; empty where nothing is likely. Valid until the
  // next call.
  std::span<const DraftToken> Draft();
  bool drafts() const { return drafter_.has_value(); }
  // The last token is not evaluated, and what needs a shift is evaluated after it.
  std::int64_t most_drafted() const {
    return std::min(limit_ - timings_.decoded_tokens, context_ - length()) - 1;
  }
  // Tokens that were generated and are still here: some were not, after a shift.
  std::span<const TokenId> answer() const;

  // What may come next; computed by the first call for a token.
  TokenMask Mask() { return constraint_ ? constraint_->Mask() : TokenMask(); }
  // Whether the first call would take more than a look: not where a token is forced.
  bool MaskTakesWork() const { return constraint_ && constraint_->MaskTakesWork(); }
  bool constrained() const { return constraint_.has_value(); }
  // Whether the next token can come from the coarse head; asked once per step.
  bool TriesCoarse() { return coarse_policy_.Try(); }
  bool NeedsOnlyTheLargest() const {
    return request().logprobs == 0 && sampler_.NeedsOnlyTheLargest();
  }
  float DepthNeeded() const { return sampler_.DepthNeeded(); }

  // The next token, from all its logits [vocab_size].
  void Choose(std::span<const float> logits, Choice& choice);
  // The same from those at least found.floor, where those that the mask forbids are
  // -infinity. False: all of them are needed. `share` is
  // what was read for the step's sequences, of a sweep that gives all logits to all.
  bool ChooseAbove(std::span<const float> logits, const HeadResult& found, float share,
                   Choice& choice);

  // Whether the next token needs room that only a shift can make.
  bool full() const { return request().shift && length() >= context_; }
  // Forgets tokens as the request wants it; its keys and values must be gone already.
  void Shift();

  // Adds hidden states [rows, hidden] of the prompt, the next in order, to the mean.
  void Pool(std::span<const float> states);

  // Tells how likely the token at `position` of the prompt was, by the logits of the row before.
  void ScorePrompt(std::int64_t position, std::span<const float> logits);

  // The events, in this order.
  void Admitted(double now_ms);
  void Progress(double now_ms);
  // True where the sequence ends with this token, for `reason`.
  bool Take(const Choice& choice, double now_ms, FinishReason& reason);
  void Done(FinishReason reason);

 private:
  // Both: as Take.
  bool Append(const Choice& choice, FinishReason& reason);
  bool AppendForced(FinishReason& reason);
  bool Fails(FinishReason& reason) const;
  std::span<const TokenId> Forced() {
    return constraint_ ? constraint_->Forced() : std::span<const TokenId>();
  }
  bool TookTooLong() const;
  std::int64_t length() const { return static_cast<std::int64_t>(tokens_.size()); }
  // Of the next token, counting those that were forgotten.
  std::uint64_t position() const {
    return static_cast<std::uint64_t>(length() + timings_.dropped_tokens);
  }

  Submission submission_;
  const Model& model_;
  std::int64_t context_;
  std::int64_t limit_;  // of tokens to generate
  std::vector<TokenId> tokens_;
  SequenceKv kv_;
  CachePath path_;
  Sampler sampler_;
  std::string piece_;  // of text, handed out by output_ since the last event
  TextOutput output_;
  std::optional<TokenId> stop_token_;  // one of the request's was chosen
  std::optional<Constraint> constraint_;
  std::vector<TokenId> forced_tokens_;  // scratch of AppendForced
  std::int64_t forced_ = 0;             // tokens after the newest chosen one
  CoarsePolicy coarse_policy_;
  std::shared_ptr<DraftKnowledge> knowledge_;
  std::optional<Drafter> drafter_;
  GenerateTimings timings_;
  double admitted_ms_ = 0;
  double first_token_at_ms_ = 0;
  bool has_line_break_ = false;  // in the text
  bool finished_ = false;
  std::vector<float> pooled_;  // [hidden] sum of states, where the request wants it
};

}  // namespace vivace
