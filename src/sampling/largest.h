// The largest of a row of logits, without sorting the row: the maxima of small groups
// tell which few groups can hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"

namespace vivace {

// The index of the largest value, the first of equals; NaN counts as -inf. 0 if there is
// none above -inf.
TokenId ArgMax(std::span<const float> logits);

struct Candidate {
  TokenId token;
  float logit;
};

class LargestFinder {
 public:
  // Find will not allocate for rows of up to `vocab_size` values.
  void Reserve(std::size_t vocab_size);

  // The `count` largest, or all if there are fewer: largest first, ties by id. NaN counts
  // as -inf. The result may be written; it is valid until the next call.
  std::span<Candidate> Find(std::span<const float> logits, std::size_t count);

 private:
  void Gather(std::span<const float> logits, std::size_t count);

  std::vector<std::uint64_t> packed_;  // logits and ids, see packed_sort.h
  std::vector<std::uint64_t> scratch_;
  std::vector<Candidate> candidates_;
};

}  // namespace vivace
