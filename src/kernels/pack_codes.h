// The raw fields of one block of 32 values, between GGUF's order and the packed one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "quant/types.h"

namespace vivace {

// What a block's header and integer scales hold, besides the quants.
struct BlockFields {
  std::uint16_t d;
  std::uint16_t m;            // or dmin; 0 where there is none
  std::uint8_t scale;         // Q4_K, Q5_K: 6 bits
  std::uint8_t min;           // Q4_K, Q5_K: 6 bits
  std::int8_t sub_scales[2];  // Q6_K: of the two halves
  std::uint8_t codes[32];     // the quants as unsigned numbers, in order
};

// Block `index` of a GGUF row, and back. Storing touches only this block's bits of a
// super-block, which must start zeroed.
BlockFields LoadFields(QuantType type, const std::byte* row, std::size_t index);
void StoreFields(QuantType type, const BlockFields& fields, std::byte* row, std::size_t index);

}  // namespace vivace
