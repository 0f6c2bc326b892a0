// The scheduler's arithmetic: whose prompt comes first, and how many of its rows fit into
// a step that others wait for. Decides when something is computed, never what comes out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace vivace {

// Moving estimates of what a step costs on this machine, now.
class StepCost {
 public:
  // A step of so many rows took `ms`.
  void Observe(std::int64_t decode_rows, std::int64_t prefill_rows, double ms) {
    if (prefill_rows == 0) {
      decode_ms_ = Moved(decode_ms_, ms);
      return;
    }
    if (prefill_rows < kLeastRows) return;
    const double own = decode_rows > 0 ? std::max(ms - decode_ms_, 0.0) : ms;
    row_ms_ = Moved(row_ms_, std::max(own / static_cast<double>(prefill_rows), 1e-6));
  }

  // Rows of prompts that fit into a step of `budget_ms` which decodes too. At least a few,
  // so that no prompt starves however slow the machine is.
  std::int64_t RowsWithin(double budget_ms) const {
    if (row_ms_ <= 0) return kFirstRows;
    const double rows = std::floor((budget_ms - decode_ms_) / row_ms_);
    return static_cast<std::int64_t>(std::clamp(rows, static_cast<double>(kLeastRows), 1e6));
  }

  double decode_ms() const { return decode_ms_; }  // of a step without prompts
  double row_ms() const { return row_ms_; }        // of a prompt's row

 private:
  static constexpr std::int64_t kLeastRows = 8;
  static constexpr std::int64_t kFirstRows = 16;  // before anything was measured
  static double Moved(double old, double now) { return old <= 0 ? now : old + (now - old) / 4; }

  double decode_ms_ = 0;
  double row_ms_ = 0;
};

// Whose prompt is evaluated first: the lowest. Short ones overtake long ones, but a prompt
// of n tokens only until n rows have been evaluated for others since it was admitted.
// `rows_before` counts all rows of prompts evaluated up to its admission.
inline std::int64_t PrefillTurn(std::int64_t rows_before, std::int64_t remaining) {
  return rows_before + remaining;
}

}  // namespace vivace
