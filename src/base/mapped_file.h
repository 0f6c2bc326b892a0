// MappedFile: a file's bytes, read-only, shared with every process that maps it.
//
// The mapping lives as long as the object; spans into it must not outlive it.
// Safe to read from any thread. If another process truncates the file, reads
// past the new end fault: files of ours are replaced by rename, never rewritten.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace vivace {

class MappedFile {
 public:
  // kNotFound, or kIo with the system's reason. A folder or pipe is kBadInput.
  static Result<MappedFile> Open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::size_t size() const { return size_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace vivace
