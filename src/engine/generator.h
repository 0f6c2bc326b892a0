// Generator: one request at a time, on the caller's thread: prompt tokens in, tokens out.
//
// An EngineCore with a single client. Keeps the keys and values of what it has seen, so
// that a prompt which continues an earlier one costs only its new tokens. Not thread-safe;
// the caller's thread leads the team. Errors leave the generator usable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_team.h"
#include "engine/core.h"
#include "engine/prefetch_tuning.h"
#include "engine/request.h"
#include "model/model.h"

namespace vivace {

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
  PageStoreOptions store = {};      // pages on disk
  Speculation speculation = Speculation::kWhenItPays;
  const Model* draft_model = nullptr;  // as in EngineOptions
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

  std::int64_t context() const { return core_->options().context; }
  const PrefetchTuning& prefetch() const { return core_->prefetch(); }
  const Model& model() const { return model_; }

 private:
  Generator(const Model& model, std::unique_ptr<EngineCore> core)
      : model_(model), core_(std::move(core)) {}

  const Model& model_;
  std::unique_ptr<EngineCore> core_;
};

}  // namespace vivace
