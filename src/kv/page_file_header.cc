#include "kv/page_file_header.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include <xxhash.h>

namespace vivace {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little endian");

constexpr char kMagic[8] = {'v', 'i', 'v', 'a', 'c', 'e', 'K', 'V'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kAlignment = 4096;  // of the keys and values

// The beginning of a file, byte by byte.
struct Start {
  char magic[8];
  std::uint32_t version;
  std::uint32_t layers;
  std::uint32_t kv_heads;
  std::uint32_t dim;
  std::uint32_t first;
  std::uint32_t count;
  std::uint64_t root[2];
  std::uint64_t parent[2];
  std::uint64_t file_bytes;
  std::uint64_t checksum;  // XXH3-64 of what follows in the header, seeded with that of the above
};
static_assert(sizeof(Start) == kPageFileStart);

// What the header says of a page.
struct PageEntry {
  std::uint64_t name[2];
  std::uint64_t checksum;
};
static_assert(sizeof(PageEntry) == 24);

std::size_t TokenBytes(std::int64_t first, std::int64_t count) {
  return static_cast<std::size_t>((first + count) * kPagePositions) * sizeof(TokenId);
}

std::uint64_t ChecksumOf(std::span<const std::byte> header) {
  const auto rest = header.subspan(sizeof(Start));
  const std::uint64_t start = XXH3_64bits(header.data(), offsetof(Start, checksum));
  return XXH3_64bits_withSeed(rest.data(), rest.size(), start);
}

Result<void> CheckStart(const Start& start, const PageFileKind& kind) {
  if (std::memcmp(start.magic, kMagic, sizeof(kMagic)) != 0) {
    return Fail(ErrorKind::kBadInput, "not a file of keys and values");
  }
  if (start.version != kVersion) {
    return Fail(ErrorKind::kUnsupported, "version " + std::to_string(start.version) +
                                             ", allowed is " + std::to_string(kVersion));
  }
  const PageShape& shape = kind.shape;
  if (start.root[0] != kind.root.low || start.root[1] != kind.root.high ||
      start.layers != shape.layers || start.kv_heads != shape.kv_heads || start.dim != shape.dim) {
    return Fail(ErrorKind::kBadInput, "of another model");
  }
  if (start.count == 0 || start.count > kMaxFilePages) {
    return Fail(ErrorKind::kBadInput, std::to_string(start.count) + " pages, allowed is 1 to " +
                                          std::to_string(kMaxFilePages));
  }
  if (start.first > kMaxPathPages) {
    return Fail(ErrorKind::kBadInput, std::to_string(start.first) +
                                          " pages before, allowed is up to " +
                                          std::to_string(kMaxPathPages));
  }
  return {};
}

}  // namespace

std::size_t PageFileHeaderBytes(std::int64_t first, std::int64_t count) {
  const std::size_t bytes = sizeof(Start) + TokenBytes(first, count) +
                            static_cast<std::size_t>(count) * sizeof(PageEntry);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<std::byte> EncodePageFileHeader(const PageFileHeader& header,
                                            const PageFileKind& kind) {
  const auto count = static_cast<std::int64_t>(header.pages.size());
  std::vector<std::byte> bytes(PageFileHeaderBytes(header.first, count));
  Start start = {.magic = {},
                 .version = kVersion,
                 .layers = static_cast<std::uint32_t>(kind.shape.layers),
                 .kv_heads = static_cast<std::uint32_t>(kind.shape.kv_heads),
                 .dim = static_cast<std::uint32_t>(kind.shape.dim),
                 .first = static_cast<std::uint32_t>(header.first),
                 .count = static_cast<std::uint32_t>(count),
                 .root = {kind.root.low, kind.root.high},
                 .parent = {header.parent.low, header.parent.high},
                 .file_bytes = bytes.size() + header.pages.size() * kind.shape.page_bytes(),
                 .checksum = 0};
  std::memcpy(start.magic, kMagic, sizeof(kMagic));
  std::byte* at = bytes.data() + sizeof(Start);
  std::memcpy(at, header.tokens.data(), TokenBytes(header.first, count));
  at += TokenBytes(header.first, count);
  for (const PageFileHeader::Page& page : header.pages) {
    const PageEntry entry = {.name = {page.name.low, page.name.high}, .checksum = page.checksum};
    std::memcpy(at, &entry, sizeof(entry));
    at += sizeof(entry);
  }
  std::memcpy(bytes.data(), &start, sizeof(start));
  start.checksum = ChecksumOf(bytes);
  std::memcpy(bytes.data(), &start, sizeof(start));
  return bytes;
}

Result<PageFileSizes> ParsePageFileStart(std::span<const std::byte, kPageFileStart> bytes,
                                         const PageFileKind& kind) {
  Start start;
  std::memcpy(&start, bytes.data(), sizeof(start));
  VIVACE_RETURN_IF_ERROR(CheckStart(start, kind));
  PageFileSizes sizes;
  sizes.header_bytes = PageFileHeaderBytes(start.first, start.count);
  sizes.file_bytes = sizes.header_bytes + start.count * kind.shape.page_bytes();
  if (start.file_bytes != sizes.file_bytes) {
    return Fail(ErrorKind::kBadInput, "says it has " + std::to_string(start.file_bytes) +
                                          " bytes, but must have " +
                                          std::to_string(sizes.file_bytes));
  }
  return sizes;
}

Result<PageFileHeader> ParsePageFileHeader(std::span<const std::byte> bytes,
                                           const PageFileKind& kind) {
  if (bytes.size() < kPageFileStart) return Fail(ErrorKind::kBadInput, "too short");
  const auto sizes = ParsePageFileStart(bytes.first<kPageFileStart>(), kind);
  if (!sizes) return Failure(sizes.error());
  if (bytes.size() != sizes->header_bytes) {
    return Fail(ErrorKind::kBadInput, "the header has " + std::to_string(bytes.size()) +
                                          " bytes, but must have " +
                                          std::to_string(sizes->header_bytes));
  }
  Start start;
  std::memcpy(&start, bytes.data(), sizeof(start));
  if (ChecksumOf(bytes) != start.checksum) {
    return Fail(ErrorKind::kBadInput, "the header's checksum is wrong");
  }
  PageFileHeader header;
  header.parent = {.low = start.parent[0], .high = start.parent[1]};
  header.first = start.first;
  const std::size_t token_bytes = TokenBytes(start.first, start.count);
  header.tokens.resize(token_bytes / sizeof(TokenId));
  const std::byte* at = bytes.data() + sizeof(Start);
  std::memcpy(header.tokens.data(), at, token_bytes);
  at += token_bytes;
  header.pages.resize(start.count);
  for (PageFileHeader::Page& page : header.pages) {
    PageEntry entry;
    std::memcpy(&entry, at, sizeof(entry));
    page = {.name = {.low = entry.name[0], .high = entry.name[1]}, .checksum = entry.checksum};
    at += sizeof(entry);
  }
  const auto padding = bytes.subspan(static_cast<std::size_t>(at - bytes.data()));
  if (!std::ranges::all_of(padding, [](std::byte byte) { return byte == std::byte{0}; })) {
    return Fail(ErrorKind::kBadInput, "the header's padding is not zero");
  }
  return header;
}

}  // namespace vivace
