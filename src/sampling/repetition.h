// How far the end of a text repeats what stood before, for each token that continued it
// there: the penalty "don't repeat yourself" (DRY, by p-e-w) looks at that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"

namespace vivace {

struct Repetition {
  TokenId next;         // would make the repetition one longer
  std::int32_t length;  // tokens that are repeated so far, at least one
};

class RepetitionFinder {
 public:
  // The longest repetition for each next token, in no order. `breakers` is ascending:
  // neither side of a repetition goes back beyond one. Linear in the text; valid until the
  // next call.
  std::span<const Repetition> Find(std::span<const TokenId> text,
                                   std::span<const TokenId> breakers);

 private:
  std::vector<std::int32_t> common_;  // the Z-array of the reversed text
  std::vector<Repetition> found_;
};

}  // namespace vivace
