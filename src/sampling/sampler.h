// Sampler: chooses the tokens of one sequence.
//
// Deterministic: the same logits, history, seed and position give the same token on every
// machine. Not thread-safe. Sample does not allocate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/token_id.h"
#include "base/token_mask.h"
#include "sampling/largest.h"
#include "sampling/params.h"
#include "sampling/penalties.h"
#include "sampling/probabilities.h"
#include "sampling/sampler_chain.h"
#include "sampling/typical.h"

namespace vivace {

class Sampler {
 public:
  // `masked`: masks will be passed. Precondition: params.Validate() succeeded.
  Sampler(SamplingParams params, std::size_t vocab_size, bool masked = false);

  // The token after the accepted ones, from its logits [vocab_size]. `position` is its
  // place in the sequence: what is drawn depends on it and the seed, not on earlier calls.
  // A logit of NaN or -inf is never drawn; where there is no other, or one of +inf, the
  // result is that of ArgMax. A mask comes before everything else; what it forbids is never
  // the result.
  TokenId Sample(std::span<const float> logits, std::uint64_t position, TokenMask mask = {});

  // Whether the largest logits usually decide, so that SampleAbove is worth a try.
  bool NeedsOnlyTheLargest() const;
  // How far below the best logit SampleAbove should know them.
  float DepthNeeded() const;
  // As Sample, where only the logits from `floor` on up are known and every other one in
  // the row is below it, if only as -infinity. Nothing where those below could matter. What
  // a mask forbids must be -infinity in the row.
  std::optional<TokenId> SampleAbove(std::span<const float> row, float floor,
                                     std::uint64_t position);

  // What Sample draws from at `position`, with their probabilities there: the tokens that
  // pass all filters, most likely first. Allocates.
  std::vector<TokenLogprob> Kept(std::span<const float> logits, std::uint64_t position,
                                 TokenMask mask = {});

  // Adds a token, of the prompt or sampled, to the history that penalties look at.
  // Precondition: 0 <= token < vocab_size.
  void Accept(TokenId token);

 private:
  bool Filters() const;
  // Whether penalties and bias raise no logit.
  bool OnlyLowers() const;
  bool Adjusts() const { return penalties_ || !params_.logit_bias.empty(); }
  std::span<const float> Adjust(std::span<const float> logits, TokenMask mask);
  std::span<Candidate> Keep(std::span<const float> logits);
  std::span<const Candidate> Left(std::span<const float> logits, std::uint64_t position);
  std::optional<std::size_t> CountKeptAbove(std::span<const Candidate> known, float floor) const;
  std::size_t CountKept(std::span<const Candidate> sorted, double total) const;
  TokenId DrawFrom(std::span<const Candidate> kept, double uniform);
  TokenId DrawFromAll(std::span<const float> logits, float best, double uniform);

  SamplingParams params_;
  float scale_;                         // 1 / temperature
  std::optional<Penalties> penalties_;  // where there are any and no chain applies them
  std::vector<float> adjusted_;
  LargestFinder finder_;
  std::vector<float> weights_;      // of the kept candidates, or of all tokens
  std::vector<double> block_sums_;  // of weights_, where these are of all tokens
  TypicalFilter typical_;
  std::optional<SamplerChain> chain_;  // where the steps are not the usual ones
};

}  // namespace vivace
