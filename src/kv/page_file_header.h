// PageFileHeader: what stands before the keys and values in a file of the disk store.
//
// The format is described in docs/caching.md. Everything that is read is hostile: each
// size is checked before it is trusted, and a checksum covers the whole header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "kv/page_name.h"
#include "kv/page_pool.h"

namespace vivace {

// What all files of one model's store have in common.
struct PageFileKind {
  PageName root;
  PageShape shape;
};

struct PageFileHeader {
  struct Page {
    PageName name;
    std::uint64_t checksum = 0;  // XXH3-64 of its keys and values
  };
  PageName parent;              // of the first page
  std::int64_t first = 0;       // pages of the path that come before this file's
  std::vector<TokenId> tokens;  // of the whole path, up to the end of this file's last page
  std::vector<Page> pages;
};

inline constexpr std::int64_t kMaxFilePages = 64;
inline constexpr std::int64_t kMaxPathPages = std::int64_t{1} << 18;
inline constexpr std::size_t kPageFileStart = 80;  // bytes that come first, of fixed size

// Where the keys and values begin. Precondition: within the limits above.
std::size_t PageFileHeaderBytes(std::int64_t first, std::int64_t count);

std::vector<std::byte> EncodePageFileHeader(const PageFileHeader& header, const PageFileKind& kind);

// The sizes that a file's beginning tells.
struct PageFileSizes {
  std::size_t header_bytes = 0;
  std::uint64_t file_bytes = 0;
};
// kUnsupported for another version, kBadInput for what is no file of this kind.
Result<PageFileSizes> ParsePageFileStart(std::span<const std::byte, kPageFileStart> start,
                                         const PageFileKind& kind);
// The whole header: as many bytes as its beginning tells.
Result<PageFileHeader> ParsePageFileHeader(std::span<const std::byte> bytes,
                                           const PageFileKind& kind);

}  // namespace vivace
