// QuantType: the block formats of GGUF tensors, by their numbers in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

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

struct QuantTypeFacts {
  QuantType type;
  std::string_view name;     // as files and people write it: "Q4_K"
  std::size_t block_values;  // values per block
  std::size_t block_bytes;
};

// All known types, in the order of their numbers.
std::span<const QuantTypeFacts> AllQuantTypes();

const QuantTypeFacts& FactsOf(QuantType type);
inline std::string_view Name(QuantType type) { return FactsOf(type).name; }

// kUnsupported for numbers and names that are not in the list above.
Result<QuantType> QuantTypeFromId(std::uint32_t id);
Result<QuantType> QuantTypeFromName(std::string_view name);

// Bytes of a row of k values. kBadInput when k is not a multiple of the block or the
// size overflows.
Result<std::size_t> RowBytes(QuantType type, std::size_t k);

}  // namespace vivace
