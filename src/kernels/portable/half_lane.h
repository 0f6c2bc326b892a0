// Exact float16 conversions in integer code, for tiers without instructions for them.
#pragma once

#include <cstdint>

namespace vivace::VIVACE_ISA {
namespace {

[[maybe_unused]] std::uint32_t Bits(float value) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

[[maybe_unused]] float FromBits(std::uint32_t bits) {
  float value = 0;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// Finite halves only need the exponent moved: a multiplication by 2^112 also makes the
// subnormals right.
[[maybe_unused]] float FromHalf(std::uint16_t half) {
  const std::uint32_t rest = half & 0x7fffU;
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t finite = Bits(FromBits(rest << 13) * 0x1p112F);
  return FromBits(sign | (rest >= 0x7c00U ? 0x7f800000U | rest << 13 : finite));
}

// To nearest even; see quant/half.h.
[[maybe_unused]] std::uint16_t HalfOf(float value) {
  const std::uint32_t bits = Bits(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t rest = bits & 0x7fffffffU;
  std::uint32_t half = (rest - (112U << 23) + 0xfffU + (rest >> 13 & 1U)) >> 13;
  if (rest < 0x38800000U) half = Bits(FromBits(rest) + 0.5F) - 0x3f000000U;
  if (rest >= 0x477ff000U) half = 0x7c00U;
  if (rest > 0x7f800000U) half = 0x7e00U | (rest >> 13 & 0x3ffU);
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
