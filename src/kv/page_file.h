// PageFile: a file of the disk store: a run of consecutive full pages of one path.
//
// Complete when it has its own name (kv/temporary_page_file.h); what a power cut leaves is told
// by checksums. Holds an open descriptor, so another process may remove the file meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "kv/page_file_header.h"

namespace vivace {

class PageFile {
 public:
  // kNotFound: there is none. kIo: the system refused, the file may be fine. Any other
  // error: it is not what it claims to be.
  static Result<PageFile> Open(const std::string& path, const PageFileKind& kind);
  PageFile(PageFile&& other) noexcept;
  PageFile& operator=(PageFile&&) = delete;
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;
  ~PageFile();

  const PageFileHeader& header() const { return header_; }

  // How many of its pages, from its first on, belong to the path with these names and
  // tokens. All tokens up to there are compared.
  std::int64_t CountShared(std::span<const PageName> names, std::span<const TokenId> tokens) const;

  // Tells the system that pages from `index` on will be read; costs nothing if they are in memory.
  void WillRead(std::int64_t index) const;
  // Reads page `index` of this file; kBadInput where it is not what was written. `out` [page_size]
  // is undefined after an error.
  Result<void> Read(std::int64_t index, std::uint16_t* out) const;

 private:
  PageFile(int fd, const PageFileKind& kind) : fd_(fd), kind_(kind) {}
  Result<void> ReadHeader(std::uint64_t file_bytes);
  std::uint64_t OffsetOf(std::int64_t index) const;

  int fd_;
  PageFileKind kind_;
  PageFileHeader header_;
};

}  // namespace vivace
