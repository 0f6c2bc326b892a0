// Locally typical sampling (Meister et al. 2022): the tokens whose surprise is nearest to
// what is expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sampling/largest.h"

namespace vivace {

class TypicalFilter {
 public:
  // Keep will not allocate for rows of up to `size` candidates.
  void Reserve(std::size_t size);

  // Those nearest to the entropy, until their probability reaches `typical_p`; at least
  // `least`. `sorted` is most likely first, and so is the result, at its beginning.
  std::span<Candidate> Keep(std::span<Candidate> sorted, float typical_p, std::size_t least);

 private:
  std::vector<std::uint64_t> deviations_;  // packed, by index and sorted
  std::vector<std::uint64_t> sorted_deviations_;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace vivace
