#include "tokenizer/special_matcher.h"

#include <algorithm>

namespace vivace {

TokenId LongestPrefix(const TableView& tables, std::span<const std::uint32_t> tokens,
                      std::string_view text) {
  // Narrows the sorted list to the pieces that agree with the first `depth` bytes.
  TokenId longest = -1;
  auto first = tokens.begin();
  auto last = tokens.end();
  const auto piece = [&](std::uint32_t id) { return tables.Piece(static_cast<TokenId>(id)); };
  for (std::size_t depth = 0; first < last; ++depth) {
    while (first < last && piece(*first).size() == depth) {
      if (depth > 0) longest = static_cast<TokenId>(*first);
      ++first;
    }
    if (depth == text.size()) break;
    const auto byte = static_cast<std::uint8_t>(text[depth]);
    const auto at_depth = [&](std::uint32_t id) {
      const std::string_view bytes = piece(id);
      // Damaged tables only: sorted lists have no piece this short here.
      return bytes.size() > depth ? static_cast<std::uint8_t>(bytes[depth]) : std::uint8_t{0};
    };
    first = std::partition_point(first, last, [&](auto id) { return at_depth(id) < byte; });
    last = std::partition_point(first, last, [&](auto id) { return at_depth(id) <= byte; });
  }
  return longest;
}

SpecialMatch FindSpecial(const TableView& tables, std::span<const std::uint32_t> tokens,
                         const std::array<std::uint64_t, 4>& first_bytes, std::string_view text,
                         std::size_t from) {
  if (tokens.empty()) return {text.size(), -1};
  for (std::size_t at = from; at < text.size(); ++at) {
    const auto byte = static_cast<std::uint8_t>(text[at]);
    if (((first_bytes[byte / 64] >> (byte % 64)) & 1) == 0) continue;
    const TokenId id = LongestPrefix(tables, tokens, text.substr(at));
    if (id >= 0 && !tables.Piece(id).empty()) return {at, id};
  }
  return {text.size(), -1};
}

}  // namespace vivace
