// Counter-based random numbers: a function of (seed, position), without state.
//
// What a request draws depends on its seed and on where in its text it is, never on
// other requests. Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as
// 1, 2, 3", 2011).
#pragma once

#include <array>
#include <cstdint>

namespace vivace {

// The ten rounds over `counter` under `key`.
std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// Uniform in [0, 1), with 53 random bits.
double Uniform(std::uint32_t seed, std::uint64_t position);

}  // namespace vivace
