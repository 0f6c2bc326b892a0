// Numbers to sort packed with their index: fast to compare, and ties end up by index.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vivace {

// Unsigned, in the order of the values; equal for both zeros. NaN must not come here.
inline std::uint32_t AscendingKey(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
  // All bits of a negative number are turned, of others the sign. Without a branch: signs
  // are as good as random.
  return bits ^ ((0U - (bits >> 31)) | 0x80000000U);
}

// The key in the high half decides, then the index in the low half.
inline std::uint64_t Pack(std::uint32_t key, std::size_t index) {
  return std::uint64_t{key} << 32 | static_cast<std::uint32_t>(index);
}
inline std::uint32_t PackedIndex(std::uint64_t packed) {
  return static_cast<std::uint32_t>(packed);
}

// Ascending. Precondition: the indices ascend. `scratch` grows to the size of `values`.
void SortPacked(std::vector<std::uint64_t>& values, std::vector<std::uint64_t>& scratch);

}  // namespace vivace
