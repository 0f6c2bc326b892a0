// PageName: what a full page of keys and values is called, by all that decides its bytes.
//
// A chain of hashes: a page's name covers its 16 tokens and its parent's name, so it
// covers every token before it, and the root's covers the model. Names find pages; whoever
// finds one still compares the tokens, because two pages may have the same name.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/token_id.h"
#include "kv/page_pool.h"

namespace vivace {

// XXH3-128.
struct PageName {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  auto operator<=>(const PageName&) const = default;
};

struct PageNameHash {
  std::size_t operator()(const PageName& name) const { return name.low; }
};

using PageTokens = std::span<const TokenId, static_cast<std::size_t>(kPagePositions)>;

// The root of all pages of one model: `facts` are the bytes that tell it from any other
// model and way of computing or storing keys and values.
PageName NameOfRoot(std::span<const std::byte> facts);
PageName NameOfPage(const PageName& parent, PageTokens tokens);

}  // namespace vivace
