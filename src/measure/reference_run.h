// ReferenceRun: what one model thinks of every token of a text, kept in a file so that another
// model can be compared with it by Kullback-Leibler divergence.
//
// Kept are the most likely tokens of each position and their log-probabilities; all others
// count as one. The divergence over that is a lower bound of the true one, and close to it: the
// tokens that are kept hold nearly all of the probability.
//
// The file: one line of JSON (ReferenceHead), then for each position `top` pairs of int32 id and
// float32 log-probability, least significant byte first.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sampling/probabilities.h"

namespace vivace {

struct ReferenceHead {
  std::string model;
  std::string text;  // names the text: its hash
  std::int64_t tokens = 0;
  std::int64_t window = 0;
  std::int64_t vocab = 0;
  std::int64_t top = 256;  // at most `vocab`
};

class ReferenceWriter {
 public:
  static Result<ReferenceWriter> Create(const std::string& path, const ReferenceHead& head);
  // Precondition: head.top entries.
  void Add(std::span<const TokenLogprob> top);
  // Only after this the file is there under its name.
  Result<void> Finish();

 private:
  std::string path_;
  std::ofstream file_;
};

class ReferenceReader {
 public:
  // kBadInput for a file that is none.
  static Result<ReferenceReader> Open(const std::string& path);
  const ReferenceHead& head() const { return head_; }
  // The next position's; kBadInput where the file ends before.
  Result<std::span<const TokenLogprob>> Next();

 private:
  std::string path_;
  std::ifstream file_;
  ReferenceHead head_;
  std::vector<TokenLogprob> row_;
};

// Divergence, in nats, of a distribution given by its logits from the reference's.
// Precondition: every id is one of the logits'.
double DivergenceFrom(std::span<const TokenLogprob> reference, std::span<const float> logits);

}  // namespace vivace
