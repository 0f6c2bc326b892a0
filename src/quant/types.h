// What is known of each QuantType: its name and the size of its blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "quant/quant_type.h"

namespace vivace {

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
