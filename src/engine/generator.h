// Generator: one conversation with a model: prompt tokens in, tokens out.
//
// Keeps the keys and values of what it has seen, so that a prompt which continues the
// last one costs only its new tokens. Not thread-safe; the caller's thread leads the
// team. Errors leave the generator usable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/page_promotion.h"
#include "base/result.h"
#include "base/thread_team.h"
#include "engine/coarse_policy.h"
#include "engine/prefetch_tuning.h"
#include "kv/sequence_kv.h"
#include "model/head_search.h"
#include "model/model.h"
#include "model/workspace.h"
#include "sampling/params.h"
#include "sampling/probabilities.h"

namespace vivace {

class Sampler;
class TextOutput;

enum class FinishReason : std::uint8_t { kStop, kLength, kStopString, kCancelled };
const char* FinishReasonName(FinishReason reason);  // "stop", "length", "stop", "cancelled"

struct GenerateRequest {
  std::vector<TokenId> prompt;  // at least one token
  SamplingParams sampling;
  std::int64_t max_tokens = -1;   // -1: until the context is full
  std::vector<std::string> stop;  // the text ends before the first of them
  std::size_t logprobs = 0;       // most likely tokens to report per step, by a plain softmax
  bool ignore_end = false;        // go on after an end-of-generation token
};

// All times are wall clock, in milliseconds.
struct GenerateTimings {
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;  // of the prompt, whose keys and values were there already
  double prefill_ms = 0;           // start of the call to the end of the prompt's evaluation
  double first_token_ms = 0;       // start of the call to the first token
  std::int64_t decoded_tokens = 0;
  double decode_ms = 0;  // first token to last
  // Tokens that were chosen without reading the whole output matrix, and the rows of it
  // that came into question for them, in total.
  std::int64_t coarse_tokens = 0;
  std::int64_t coarse_candidates = 0;
};

struct GenerateResult {
  std::vector<TokenId> tokens;  // without the end-of-generation token
  std::string text;
  std::vector<std::vector<TokenLogprob>> logprobs;  // per token, where asked for
  FinishReason finish_reason = FinishReason::kStop;
  std::string stopping_word;  // of kStopString
  GenerateTimings timings;
};

struct GeneratorOptions {
  std::int64_t context = 4096;      // positions of keys and values
  std::int64_t prompt_chunk = 256;  // rows of one prefill pass
  PrefetchTuning prefetch = {};     // what is known of this machine
};

class Generator {
 public:
  // `model` and `team` must outlive the generator.
  static Result<std::unique_ptr<Generator>> Create(const Model& model, ThreadTeam& team,
                                                   const GeneratorOptions& options);

  // Calls on_text with each piece of text as soon as it can no longer be part of a
  // stop string; all pieces together are the result's text.
  Result<GenerateResult> Generate(const GenerateRequest& request, const std::stop_token& cancel,
                                  const std::function<void(std::string_view)>& on_text);

  // Logits of every row of `tokens`, evaluated as a sequence of its own, handed over
  // a few rows at a time: (first row, rows, logits [rows, LogitsStride]).
  using LogitsSink = std::function<void(std::int64_t, std::int64_t, const float*)>;
  Result<void> Evaluate(std::span<const TokenId> tokens, const LogitsSink& sink);

  std::int64_t context() const { return options_.context; }
  const PrefetchTuning& prefetch() const { return prefetch_; }
  const Model& model() const { return model_; }

 private:
  Generator(const Model& model, ThreadTeam& team, const GeneratorOptions& options, PagePool pool,
            Workspace space, Buffer logits);

  // Keeps the longest common prefix of `prompt` and what is cached; returns its length.
  std::int64_t ReusePrefix(std::span<const TokenId> prompt);
  // Evaluates `tokens` after what is cached; the workspace keeps the last one's hidden row.
  Result<void> Prefill(std::span<const TokenId> tokens, const std::stop_token& cancel);
  // Chooses and evaluates, token by token, from the row that Prefill left.
  Result<void> Decode(const GenerateRequest& request, const std::stop_token& cancel,
                      Sampler& sampler, TextOutput& output, GenerateResult& result);
  // The token after what is cached; with request.logprobs, all logits are in
  // logits_memory_ afterwards.
  TokenId Choose(const GenerateRequest& request, Sampler& sampler, GenerateTimings& timings);
  std::optional<TokenId> ChooseCoarsely(Sampler& sampler, GenerateTimings& timings);
  Result<void> Step(std::span<const TokenId> tokens, std::span<const std::int64_t> output_rows);
  // Between two decode steps: what makes the next ones faster.
  void Tune(double step_ms);

  const Model& model_;
  ThreadTeam& team_;
  GeneratorOptions options_;
  PagePool pool_;
  Workspace space_;
  Buffer logits_memory_;
  std::optional<HeadSearch> head_search_;  // where the model has a coarse head
  CoarsePolicy coarse_policy_;
  PrefetchTuning prefetch_;
  PagePromotion promotion_;
  std::int64_t decode_steps_ = 0;
  SequenceKv kv_;
  std::vector<TokenId> cached_;  // the tokens in kv_
  double start_ms_ = 0;          // of the running Generate
};

}  // namespace vivace
