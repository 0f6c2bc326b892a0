#include "kv/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include <xxhash.h>

namespace vivace {
namespace {

Failure SystemFailure(int code) {
  const ErrorKind kind = code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
  return Fail(kind, std::generic_category().message(code));
}

Result<void> ReadAt(int fd, std::span<std::byte> out, std::uint64_t offset) {
  while (!out.empty()) {
    const ssize_t got = pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemFailure(errno);
    if (got == 0) return Fail(ErrorKind::kBadInput, "ends too early");
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace

PageFile::PageFile(PageFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), kind_(other.kind_), header_(std::move(other.header_)) {}

PageFile::~PageFile() {
  if (fd_ >= 0) close(fd_);
}

Result<PageFile> PageFile::Open(const std::string& path, const PageFileKind& kind) {
  // Not blocking: what has the name may be a pipe.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 && errno == ELOOP) return Fail(ErrorKind::kBadInput, "a link");
  if (fd < 0) return SystemFailure(errno);
  PageFile file(fd, kind);
  struct stat info = {};
  if (fstat(fd, &info) != 0) return SystemFailure(errno);
  if (!S_ISREG(info.st_mode)) return Fail(ErrorKind::kBadInput, "not a regular file");
  VIVACE_RETURN_IF_ERROR(file.ReadHeader(static_cast<std::uint64_t>(info.st_size)));
  return file;
}

Result<void> PageFile::ReadHeader(std::uint64_t file_bytes) {
  std::vector<std::byte> bytes(kPageFileStart);
  VIVACE_RETURN_IF_ERROR(ReadAt(fd_, bytes, 0));
  const auto sizes = ParsePageFileStart(std::span(bytes).first<kPageFileStart>(), kind_);
  if (!sizes) return Failure(sizes.error());
  if (sizes->file_bytes != file_bytes) {
    return Fail(ErrorKind::kBadInput, std::to_string(file_bytes) + " bytes, but must have " +
                                          std::to_string(sizes->file_bytes));
  }
  bytes.resize(sizes->header_bytes);
  VIVACE_RETURN_IF_ERROR(ReadAt(fd_, std::span(bytes).subspan(kPageFileStart), kPageFileStart));
  auto header = ParsePageFileHeader(bytes, kind_);
  if (!header) return Failure(std::move(header).error());
  header_ = std::move(*header);
  return {};
}

std::int64_t PageFile::CountShared(std::span<const PageName> names,
                                   std::span<const TokenId> tokens) const {
  const auto first = static_cast<std::size_t>(header_.first);
  const auto page = static_cast<std::size_t>(kPagePositions);
  const auto all = std::span(header_.tokens);
  if (first > names.size() || names.size() * page > tokens.size()) return 0;
  if (!std::ranges::equal(all.first(first * page), tokens.first(first * page))) return 0;
  if (header_.parent != (first == 0 ? kind_.root : names[first - 1])) return 0;
  std::size_t shared = 0;
  for (; shared < header_.pages.size() && first + shared < names.size(); ++shared) {
    const std::size_t at = (first + shared) * page;
    if (header_.pages[shared].name != names[first + shared]) break;
    if (!std::ranges::equal(all.subspan(at, page), tokens.subspan(at, page))) break;
  }
  return static_cast<std::int64_t>(shared);
}

std::uint64_t PageFile::OffsetOf(std::int64_t index) const {
  const auto count = static_cast<std::int64_t>(header_.pages.size());
  return PageFileHeaderBytes(header_.first, count) +
         static_cast<std::uint64_t>(index) * kind_.shape.page_bytes();
}

void PageFile::WillRead(std::int64_t index) const {
  posix_fadvise(fd_, static_cast<off_t>(OffsetOf(index)), 0, POSIX_FADV_WILLNEED);
}

Result<void> PageFile::Read(std::int64_t index, std::uint16_t* out) const {
  const auto page =
      std::as_writable_bytes(std::span(out, static_cast<std::size_t>(kind_.shape.page_size())));
  VIVACE_RETURN_IF_ERROR(ReadAt(fd_, page, OffsetOf(index)));
  const std::uint64_t checksum = XXH3_64bits(page.data(), page.size());
  if (checksum != header_.pages[static_cast<std::size_t>(index)].checksum) {
    return Fail(ErrorKind::kBadInput,
                "the checksum of page " + std::to_string(index) + " is wrong");
  }
  return {};
}

}  // namespace vivace
