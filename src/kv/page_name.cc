#include "kv/page_name.h"

#include <algorithm>
#include <array>

#include <xxhash.h>

namespace vivace {

PageName NameOfRoot(std::span<const std::byte> facts) {
  const XXH128_hash_t hash = XXH3_128bits(facts.data(), facts.size());
  return {.low = hash.low64, .high = hash.high64};
}

PageName NameOfPage(const PageName& parent, PageTokens tokens) {
  struct {
    std::uint64_t parent[2];
    std::array<TokenId, static_cast<std::size_t>(kPagePositions)> tokens;
  } named = {.parent = {parent.low, parent.high}, .tokens = {}};
  static_assert(sizeof(named) == 16 + sizeof(TokenId) * kPagePositions, "no byte is undefined");
  std::copy(tokens.begin(), tokens.end(), named.tokens.begin());
  return NameOfRoot(std::as_bytes(std::span(&named, 1)));
}

}  // namespace vivace
