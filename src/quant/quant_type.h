// QuantType: the block formats of GGUF tensors, by their numbers in the file.
//
// This header is compiled into every ISA object: plain declarations only.
#pragma once

#include <cstdint>

namespace vivace {

enum class QuantType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIQ4_NL = 20,
  kIQ4_XS = 23,
  kBF16 = 30,
  kMXFP4 = 39,
};

// An array indexed by QuantType has this many places.
inline constexpr std::int64_t kQuantTypeIds = 40;

}  // namespace vivace
