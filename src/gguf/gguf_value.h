// The types of GGUF metadata values, and a value as a view of the file's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

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
bool IsGgufInteger(GgufType type);

// The type of a C++ number.
template <class T>
constexpr GgufType GgufTypeOf() {
  static_assert(std::is_arithmetic_v<T>);
  if constexpr (std::is_same_v<T, bool>) return GgufType::kBool;
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? GgufType::kF32 : GgufType::kF64;
  }
  constexpr bool kSigned = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return kSigned ? GgufType::kI8 : GgufType::kU8;
    case 2:
      return kSigned ? GgufType::kI16 : GgufType::kU16;
    case 4:
      return kSigned ? GgufType::kI32 : GgufType::kU32;
    default:
      return kSigned ? GgufType::kI64 : GgufType::kU64;
  }
}

// A checked value. Scalars and strings: `bytes` are the value or the characters.
// Arrays: `element` and `count`; `bytes` are the elements as they lie in the file: a string
// with its 8-byte length, an inner array with its element type and 8-byte count.
struct GgufValue {
  GgufType type = GgufType::kU8;
  GgufType element = GgufType::kU8;
  std::uint64_t count = 0;
  std::span<const std::byte> bytes;
};

}  // namespace vivace
