// Finds control and user-defined tokens in text: leftmost first, then longest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tokenizer/table_view.h"

namespace vivace {

struct SpecialMatch {
  std::size_t begin;  // text.size() if there is none
  TokenId id;
};

// The first match at or after `from` among `tokens`, which are sorted by piece;
// `first_bytes` is the set of their first bytes, one bit each.
SpecialMatch FindSpecial(const TableView& tables, std::span<const std::uint32_t> tokens,
                         const std::array<std::uint64_t, 4>& first_bytes, std::string_view text,
                         std::size_t from);

// The longest of `tokens` that `text` starts with, or -1.
TokenId LongestPrefix(const TableView& tables, std::span<const std::uint32_t> tokens,
                      std::string_view text);

}  // namespace vivace
