// Loops whose every round is written out, with its number as a constant: arrays of registers
// that are indexed by it stay in registers, where GCC puts those of loops into memory.
#pragma once

#include <type_traits>
#include <utility>

#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {
namespace {

template <class Body, int... kRounds>
[[gnu::always_inline]] inline void RunRounds(const Body& body,
                                             std::integer_sequence<int, kRounds...> /*rounds*/) {
  (body(std::integral_constant<int, kRounds>{}), ...);
}

// body(0), body(1), ... body(kCount - 1), each argument an integral_constant.
template <int kCount, class Body>
[[gnu::always_inline]] inline void Unrolled(const Body& body) {
  RunRounds(body, std::make_integer_sequence<int, kCount>{});
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
