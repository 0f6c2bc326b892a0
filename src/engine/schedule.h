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
    if (decode_rows > 0 && decode_ms_ > 0) {
      const double expected = decode_ms_ + row_ms_ * static_cast<double>(prefill_rows);
      spread_ms_ += (std::abs(ms - expected) - spread_ms_) / 4;
    }
    if (decode_rows + prefill_rows == 1) ObservePass(ms);
    if (prefill_rows == 0) {
      decode_ms_ = Moved(decode_ms_, ms);
      return;
    }
    if (prefill_rows < kFewestRows) return;
    if (decode_rows == 0) ObserveAlone(prefill_rows, ms);
    const double own = decode_rows > 0 ? std::max(ms - decode_ms_, 0.0) : ms;
    row_ms_ = Moved(row_ms_, std::max(own / static_cast<double>(prefill_rows), 1e-6));
  }

  // Rows of prompts that fit into a step of `budget_ms` which decodes too. At least a few,
  // so that no prompt starves however slow the machine is: fewer of them where a step would
  // now and then take longer than three budgets.
  std::int64_t RowsWithin(double budget_ms) const {
    if (row_ms_ <= 0) return kFirstRows;
    const double wished = (budget_ms - decode_ms_) / row_ms_;
    const double bearable =
        (kMostBudgets * budget_ms - decode_ms_ - kSpreads * spread_ms_) / row_ms_;
    const double least = std::clamp(std::floor(bearable), 1.0 * kFewestRows, 1.0 * kFewRows);
    return static_cast<std::int64_t>(std::clamp(std::floor(wished), least, 1e6));
  }

  // Rows of a prompt for a step that nothing else shares, though a request may come meanwhile.
  // Each step reads all weights, so that few rows cost hardly less than many: where the budget
  // is short for that, a step may take as long as a few readings.
  std::int64_t RowsAlone(double budget_ms) const {
    if (alone_row_ms_ <= 0) return kFirstRowsAlone;
    const double limit_ms = std::max(budget_ms, kPassesAlone * pass_ms_);
    const double rows = std::floor((limit_ms - pass_ms_) / alone_row_ms_);
    return static_cast<std::int64_t>(std::clamp(rows, 1.0 * kFewRows, 1e6));
  }

  double decode_ms() const { return decode_ms_; }  // of a step without prompts
  double row_ms() const { return row_ms_; }        // of a prompt's row
  double spread_ms() const { return spread_ms_; }  // mean difference from what was expected

 private:
  static constexpr std::int64_t kFewRows = 8;
  static constexpr std::int64_t kFewestRows = 4;
  static constexpr double kMostBudgets = 3;
  static constexpr double kSpreads = 4;           // as TCP does for its time-outs (RFC 6298)
  static constexpr std::int64_t kFirstRows = 16;  // before anything was measured
  static constexpr double kPassesAlone = 3;
  static constexpr std::int64_t kFirstRowsAlone = 32;

  // What a step costs that does little but read the weights. Disturbances only add to it, so
  // it falls at once.
  void ObservePass(double ms) { pass_ms_ = std::min(Moved(pass_ms_, ms), ms); }

  void ObserveAlone(std::int64_t rows, double ms) {
    pass_ms_ = std::min(pass_ms_, ms);
    // An estimate of the pass that is too high must not make rows look free.
    const double own = std::max(ms - pass_ms_, ms / 2);
    alone_row_ms_ = Moved(alone_row_ms_, own / static_cast<double>(rows));
  }

  static double Moved(double old, double now) { return old <= 0 ? now : old + (now - old) / 4; }

  double decode_ms_ = 0;
  double row_ms_ = 0;
  double spread_ms_ = 0;
  double pass_ms_ = 0;       // of a step of one row
  double alone_row_ms_ = 0;  // of each further row in a step of prompts only
};

// Whose prompt is evaluated first: the lowest. Short ones overtake long ones, but a prompt
// of n tokens only until n rows have been evaluated for others since it was admitted.
// `rows_before` counts all rows of prompts evaluated up to its admission.
inline std::int64_t PrefillTurn(std::int64_t rows_before, std::int64_t remaining) {
  return rows_before + remaining;
}

}  // namespace vivace
