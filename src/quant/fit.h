// Searches of the scales that make a block's codes fit its values best.
//
// Internal to encoding. Large values count more: they weigh more in a product.
#pragma once

#include <cstdint>
#include <span>

namespace vivace {

// The integers that a code can stand for: lowest, lowest + 1 ... or those of a table, in
// ascending order. Code c stands for ValueOf(c).
class CodeBook {
 public:
  constexpr CodeBook(int lowest, int count) : lowest_(lowest), count_(count) {}
  constexpr explicit CodeBook(std::span<const std::int8_t> table)
      : table_(table), lowest_(table[0]), count_(static_cast<int>(table.size())) {}

  int lowest() const { return lowest_; }
  int ValueOf(int code) const {
    return table_.empty() ? lowest_ + code : table_[static_cast<std::size_t>(code)];
  }
  // The code whose value is nearest; the lowest for NaN.
  int Nearest(float value) const;

 private:
  std::span<const std::int8_t> table_;
  int lowest_;
  int count_;
};

// `value` rounded to nearest even and clamped to limits below 2^22 in magnitude; `lowest` for
// NaN.
int RoundWithin(float value, int lowest, int highest);

// The value of largest magnitude, with its sign; 0 when all are 0 or NaN.
float Peak(std::span<const float> x);

// The scale s, of either sign, with s * code values near x. 0 when all x are 0.
float FitScale(std::span<const float> x, const CodeBook& book);

// x is near scale * code - min, with codes 0 to highest, scale >= 0 and min >= 0.
struct ScaleAndMin {
  float scale;
  float min;
};
ScaleAndMin FitScaleAndMin(std::span<const float> x, int highest);

}  // namespace vivace
