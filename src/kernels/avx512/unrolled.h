// Loops whose every round is written out, with its number as a constant: arrays of registers
// that are indexed by it stay in registers, where GCC puts those of loops into memory.
#pragma once

#include <utility>

#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

// The number of a round, a constant. The standard library's own would be a symbol that objects of
// several instruction sets share.
template <int kNumber>
struct Round {
  // NOLINTNEXTLINE(google-explicit-constructor): it is a number
  [[gnu::always_inline]] constexpr operator int() const { return kNumber; }
};

template <class Body, int... kRounds>
[[gnu::always_inline]] inline void RunRounds(const Body& body,
                                             std::integer_sequence<int, kRounds...> /*rounds*/) {
  (body(Round<kRounds>{}), ...);
}

// body(0), body(1), ... body(kCount - 1), each argument a Round.
template <int kCount, class Body>
[[gnu::always_inline]] inline void Unrolled(const Body& body) {
  RunRounds(body, std::make_integer_sequence<int, kCount>{});
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
