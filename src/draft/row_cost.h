// RowCost: what a step costs on this machine, now, by the number of its rows.
//
// A running mean for each number of rows that was measured, and straight lines between them.
// What was not measured for long is forgotten and guessed again from fewer rows, so that a
// number of rows which once was slow gets another trial. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace vivace {

class RowCost {
 public:
  static constexpr std::int64_t kMostRows = 48;

  // A step of so many rows, each of a sequence that decodes, took `ms`.
  void Observe(std::int64_t rows, double ms);

  // Expected for a step of `rows`, 1 to kMostRows. 0: nothing is known yet.
  double Ms(std::int64_t rows) const;
  // Whether so many rows were measured often enough to compare others with.
  bool Known(std::int64_t rows) const;

 private:
  struct Node {
    double ms = 0;
    std::int64_t count = 0;  // of observations; 0: nothing is known
    std::int64_t step = 0;   // of the last one
  };
  const Node& at(std::int64_t rows) const { return nodes_[static_cast<std::size_t>(rows)]; }
  bool fresh(std::int64_t rows) const;

  std::array<Node, kMostRows + 1> nodes_ = {};
  std::int64_t steps_ = 0;
};

}  // namespace vivace
