// exp and log with a fixed sequence of operations, so that a draw is the same on every
// machine whatever its math library rounds like.
#pragma once

namespace vivace {

// Relative error below 1e-14. x is clamped to [-700, 700].
double FixedExp(double x);
// Natural logarithm of a positive normal number; error below 1e-14 relative to 1.
double FixedLog(double x);

}  // namespace vivace
