// The raw fields of one block of 32 values, between GGUF's order and the packed one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "quant/types.h"

namespace vivace {

// What a block's header and integer scales hold, besides the quants.
struct BlockFields {
  std::uint16_t d;
  std::uint16_t m;         // or dmin; 0 where there is none
  std::uint8_t scales[2];  // as the file has them:
                           //   Q4_K, Q5_K  six bits of scale, of minimum
                           //   Q3_K        six bits each of the two halves
                           //   Q2_K, Q6_K  the bytes of the two halves
                           //   IQ4_XS      six bits; MXFP4: the exponent
  std::uint8_t codes[32];  // the quants as unsigned numbers, in order
};

// Block `index` of a GGUF row, and back. Storing touches only this block's bits of a
// super-block, which must start zeroed.
BlockFields LoadFields(QuantType type, const std::byte* row, std::size_t index);
void StoreFields(QuantType type, const BlockFields& fields, std::byte* row, std::size_t index);

}  // namespace vivace
