#include "kv/temporary_page_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <vector>

#include <xxhash.h>

namespace vivace {
namespace {

constexpr std::string_view kPrefix = "writing-";
constexpr std::string_view kSuffix = ".tmp";
constexpr std::string_view kUnique = "XXXXXX";  // as mkostemps wants it

Failure SystemFailure(int code) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return Fail(full ? ErrorKind::kExhausted : ErrorKind::kIo, std::generic_category().message(code));
}

Result<void> WriteAt(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return SystemFailure(put == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

PageFileHeader HeaderOf(const PageFileKind& kind, std::span<const PageToStore> path,
                        std::size_t first) {
  PageFileHeader header;
  header.parent = first == 0 ? kind.root : path[first - 1].name;
  header.first = static_cast<std::int64_t>(first);
  for (const PageToStore& page : path) {
    header.tokens.insert(header.tokens.end(), page.tokens.begin(), page.tokens.end());
  }
  return header;
}

}  // namespace

Result<TemporaryPageFile> TemporaryPageFile::Create(const std::string& folder) {
  for (;;) {
    std::string path = folder;
    path.append("/").append(kPrefix).append(kUnique).append(kSuffix);
    const int fd = mkostemps(path.data(), static_cast<int>(kSuffix.size()), O_CLOEXEC);
    if (fd < 0) return SystemFailure(errno);
    TemporaryPageFile file(fd, std::move(path));
    // Another process that opens the store may have taken it for abandoned just now.
    struct stat info = {};
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) continue;
    if (fstat(fd, &info) != 0) return SystemFailure(errno);
    if (info.st_nlink > 0) return file;
  }
}

Result<TemporaryPageFile> TemporaryPageFile::Write(const std::string& folder,
                                                   const PageFileKind& kind,
                                                   std::span<const PageToStore> path,
                                                   std::size_t first, std::size_t count,
                                                   const std::function<bool()>& dropped) {
  auto file = Create(folder);
  if (!file) return file;
  PageFileHeader header = HeaderOf(kind, path.first(first + count), first);
  std::uint64_t offset = PageFileHeaderBytes(header.first, static_cast<std::int64_t>(count));
  for (const PageToStore& page : path.subspan(first, count)) {
    if (dropped()) return Fail(ErrorKind::kCancelled, "not needed any more");
    const auto bytes =
        std::as_bytes(std::span(page.page, static_cast<std::size_t>(kind.shape.page_size())));
    header.pages.push_back(
        {.name = page.name, .checksum = XXH3_64bits(bytes.data(), bytes.size())});
    VIVACE_RETURN_IF_ERROR(WriteAt(file->fd_, bytes, offset));
    offset += bytes.size();
  }
  VIVACE_RETURN_IF_ERROR(WriteAt(file->fd_, EncodePageFileHeader(header, kind), 0));
  return file;
}

Result<void> TemporaryPageFile::Publish(const std::string& to) {
  if (std::rename(path_.c_str(), to.c_str()) != 0) return SystemFailure(errno);
  path_.clear();
  return {};
}

TemporaryPageFile::~TemporaryPageFile() {
  if (!path_.empty()) unlink(path_.c_str());
  if (fd_ >= 0) close(fd_);
}

bool TemporaryPageFile::IsName(std::string_view name) {
  return name.size() == kPrefix.size() + kUnique.size() + kSuffix.size() &&
         name.starts_with(kPrefix) && name.ends_with(kSuffix);
}

void TemporaryPageFile::RemoveAbandoned(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  close(fd);
}

}  // namespace vivace
