// TemporaryPageFile: a file of the disk store while it is written.
//
// It has a temporary name and a lock until it is complete; then it is renamed. Whoever
// opens the store later removes temporary files without a lock: their writers are dead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "kv/page_file_header.h"
#include "kv/page_name.h"

namespace vivace {

// A page as it goes to disk: the tokens are its own 16.
struct PageToStore {
  PageName name;
  PageTokens tokens;
  const std::uint16_t* page;
};

// The file is removed with this object unless it was published.
class TemporaryPageFile {
 public:
  // Writes pages [first, first + count) of `path` as a file in `folder`. kCancelled when
  // `dropped`, asked before each page, says so.
  static Result<TemporaryPageFile> Write(const std::string& folder, const PageFileKind& kind,
                                         std::span<const PageToStore> path, std::size_t first,
                                         std::size_t count, const std::function<bool()>& dropped);
  TemporaryPageFile(TemporaryPageFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), path_(std::exchange(other.path_, {})) {}
  TemporaryPageFile& operator=(TemporaryPageFile&&) = delete;
  TemporaryPageFile(const TemporaryPageFile&) = delete;
  TemporaryPageFile& operator=(const TemporaryPageFile&) = delete;
  ~TemporaryPageFile();

  Result<void> Publish(const std::string& to);

  // Whether a file's name is one that this class gives.
  static bool IsName(std::string_view name);
  // Removes it unless a process is writing it.
  static void RemoveAbandoned(const std::string& path);

 private:
  TemporaryPageFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  static Result<TemporaryPageFile> Create(const std::string& folder);

  int fd_;  // locked as long as the process lives
  std::string path_;
};

}  // namespace vivace
