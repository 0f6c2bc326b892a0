// SamplerChain: the steps of sampling one by one, in any order, with those that are rarely
// asked for. Sampler hands its rows to it where the parameters need that; the usual steps
// in their usual order do without, and faster.
//
// Deterministic as Sampler is. Mirostat and adaptive-p follow the tokens that were
// accepted. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/token_id.h"
#include "sampling/largest.h"
#include "sampling/params.h"
#include "sampling/penalties.h"
#include "sampling/repetition.h"
#include "sampling/typical.h"

namespace vivace {

class SamplerChain {
 public:
  // Precondition: params.Validate() succeeded.
  SamplerChain(SamplingParams params, std::size_t vocab_size);

  // The tokens that all steps leave, most likely first, with the logits that they are drawn
  // by; at least one, unless no logit is finite. `logits` have their bias. Valid until the
  // next call.
  std::span<const Candidate> Run(std::span<const float> logits, std::uint64_t position);

  // Draws from what Run leaves; the result of ArgMax where the largest is not finite.
  TokenId Sample(std::span<const float> logits, std::uint64_t position);

  void Accept(TokenId token);

 private:
  void Apply(SamplingStep step, std::uint64_t position);
  void Penalize();
  void PenalizeRepetitions();
  void KeepNearBest();
  void KeepMass();
  void KeepShare();
  void ExcludeTop(std::uint64_t position);
  void Temper();
  void Scale(float factor);
  void CutToSurprise();
  void Adapt();
  // Logits as a row, to be changed token by token, or as a sorted list, to be cut.
  void AsRow();
  void AsList(std::size_t most);

  SamplingParams params_;
  std::vector<SamplingStep> steps_;
  Penalties penalties_;
  std::vector<float> row_;       // [vocab_size]
  std::vector<Candidate> list_;  // most likely first
  bool is_list_ = false;
  std::size_t size_ = 0;  // how many tokens are left
  LargestFinder finder_;
  RepetitionFinder repetitions_;
  TypicalFilter typical_;
  std::vector<float> weights_;

  double most_surprise_;  // of Mirostat, in bits: mu
  // What was drawn last: its surprise, or its probability before Adapt, follow if it is accepted.
  struct Drawn {
    TokenId token;
    double surprise;
    double probability;
  };
  std::optional<Drawn> drawn_;
  std::vector<double> probabilities_;  // of list_, before Adapt
  double drawn_mass_ = 0;              // of adaptive-p: decayed sums
  double drawn_weight_ = 0;
};

}  // namespace vivace
