// DraftControl: how many drafted tokens a step verifies, and whose.
//
// Those that make the most tokens a second, at the measured cost of rows and the chances that
// the drafters give. None where that is not clearly more than without. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "draft/drafter.h"
#include "draft/row_cost.h"

namespace vivace {

class DraftControl {
 public:
  // Rows of one step, with those of the sequences' own tokens.
  static constexpr std::int64_t kMostRows = 32;

  // A step of so many rows, and nothing else, took `ms`.
  void Observe(std::int64_t rows, double ms) { cost_.Observe(rows, ms); }

  // The draft of one sequence, and how many of its tokens are worth their rows.
  struct Offer {
    std::span<const DraftToken> tokens;
    std::int64_t taken = 0;
  };
  // One offer for every sequence of the step, also those that have no draft.
  void Decide(std::span<Offer> offers) const;

  // Whether drafts are of use in a step of so many sequences, before anything is drafted.
  bool Open(std::int64_t sequences) const {
    return sequences < kMostRows && cost_.Known(sequences);
  }
  const RowCost& cost() const { return cost_; }

 private:
  RowCost cost_;
};

}  // namespace vivace
