// The types of GGUF metadata values, and a value as a view of the file's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vivace {

enum class GgufType : std::uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};
inline constexpr std::uint32_t kGgufTypes = 13;

// Bytes of a value; 0 for strings and arrays, whose size varies.
std::size_t GgufTypeSize(GgufType type);
const char* GgufTypeName(GgufType type);

// A checked value. Scalars and strings: `bytes` are the value or the characters.
// Arrays: `element` and `count`; `bytes` are the elements as they lie in the file, each
// string with its 8-byte length.
struct GgufValue {
  GgufType type = GgufType::kU8;
  GgufType element = GgufType::kU8;
  std::uint64_t count = 0;
  std::span<const std::byte> bytes;
};

}  // namespace vivace
