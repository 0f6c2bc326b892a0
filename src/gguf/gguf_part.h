// GgufPart: what one file says, checked; the views point into its bytes.
//
// Nothing is trusted before it is checked against the bytes that remain, so memory and time
// are in proportion to the file's size at worst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gguf/gguf_value.h"
#include "quant/types.h"

namespace vivace {

struct GgufTensor {
  std::string_view name;
  QuantType type = QuantType::kF32;
  std::vector<std::uint64_t> dims;  // 1 to 4; dims[0] is the row length
  std::span<const std::byte> bytes;
};

struct GgufPart {
  std::uint32_t version = 0;
  std::map<std::string_view, GgufValue> metadata;
  std::vector<GgufTensor> tensors;    // in the file's order; no two of one name
  std::vector<std::string> warnings;  // what was odd but could be read around, a line each
};

inline constexpr std::uint64_t kGgufNameBytes = 1024;
inline constexpr std::uint64_t kGgufAlignment = 32;  // unless general.alignment says otherwise
inline constexpr std::uint64_t kGgufMaxAlignment = std::uint64_t{1} << 20;

Result<GgufPart> ParseGgufPart(std::span<const std::byte> bytes);

// Bytes of a tensor. kBadInput for other than 1 to 4 dimensions, for one that is 0, for more
// than 2^48 values and for rows that are not whole blocks.
Result<std::uint64_t> GgufTensorBytes(QuantType type, std::span<const std::uint64_t> dims);

// An integer of any width as an unsigned number; nothing for other types and below 0.
std::optional<std::uint64_t> GgufUnsigned(const GgufValue& value);

}  // namespace vivace
