// The four-bit code books as unsigned bytes, which byte products and shuffles want: a
// kernel multiplies value + offset and takes the offset back by the activations' sum.
//
// This header is compiled into every ISA object. The books of quant/blocks.h are only
// read while compiling: a reference to them in an object would be a weak symbol.
#pragma once

#include <cstdint>

#include "quant/blocks.h"

namespace vivace {
namespace {

struct CodeBook {
  alignas(16) std::uint8_t value[16];
};

consteval CodeBook Raised(const std::int8_t (&book)[16], int offset) {
  CodeBook raised = {};
  for (int i = 0; i < 16; ++i) raised.value[i] = static_cast<std::uint8_t>(book[i] + offset);
  return raised;
}

constexpr int kIq4Offset = 128;
[[maybe_unused]] constexpr CodeBook kIq4Book = Raised(kIq4Values, kIq4Offset);

// 16 rather than 12: a shift takes it back, and the codes stay below 32.
constexpr int kMxfp4Offset = 16;
[[maybe_unused]] constexpr CodeBook kMxfp4Book = Raised(kMxfp4Doubled, kMxfp4Offset);

}  // namespace
}  // namespace vivace
