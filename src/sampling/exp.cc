#include "sampling/exp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace vivace {
namespace {

constexpr double kLog2E = 1.4426950408889634;
// ln 2 in two parts: n * kLn2High is exact for |n| < 2^11.
constexpr double kLn2High = 0x1.62e42fefa38p-1;
constexpr double kLn2Low = 0x1.ef35793c7673p-45;

}  // namespace

double FixedExp(double x) {
  x = std::clamp(x, -700.0, 700.0);
  const double n = std::nearbyint(x * kLog2E);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  // Taylor: |r| <= 0.35, so the term of degree 13 is below 2e-16.
  double sum = 1.0;
  for (int degree = 13; degree >= 1; --degree) sum = 1.0 + sum * r / degree;
  const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023);
  return sum * std::bit_cast<double>(exponent << 52);
}

double FixedLog(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffU) | std::uint64_t{1023} << 52);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  // log m = 2 atanh(t), t = (m - 1) / (m + 1), |t| < 0.1716: 11 odd terms reach 1e-17.
  const double t = (mantissa - 1) / (mantissa + 1);
  const double square = t * t;
  double sum = 0;
  for (int term = 21; term >= 1; term -= 2) sum = sum * square + 1.0 / term;
  return 2 * t * sum + exponent * (kLn2High + kLn2Low);
}

}  // namespace vivace
