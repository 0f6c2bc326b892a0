#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/huge_page.h"

namespace vivace {
namespace {

constexpr std::size_t kPage = 4096;

Failure SystemFailure(const std::string& path, int code) {
  const ErrorKind kind = code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
  return Fail(kind, path + ": " + std::generic_category().message(code));
}

// mmap at a multiple of 2 MB where the file is larger, so that huge pages fit.
void* MapAligned(int fd, std::size_t size) {
  if (size < kHugePage) return mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  void* reserved = mmap(nullptr, size + kHugePage, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return MAP_FAILED;
  const auto address = reinterpret_cast<std::uintptr_t>(reserved);
  const std::uintptr_t before = (kHugePage - address % kHugePage) % kHugePage;
  auto* aligned = static_cast<std::byte*>(reserved) + before;
  void* data = mmap(aligned, size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
  const int code = errno;
  if (data == MAP_FAILED) munmap(reserved, size + kHugePage);
  if (data != MAP_FAILED && before != 0) munmap(reserved, before);
  // Behind the file's last page.
  const std::size_t mapped = (size + kPage - 1) / kPage * kPage;
  if (data != MAP_FAILED && before + mapped < size + kHugePage) {
    munmap(aligned + mapped, size + kHugePage - before - mapped);
  }
  errno = code;
  return data;
}

// mmap of a descriptor that the caller closes.
Result<std::span<const std::byte>> Map(int fd, const std::string& path) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) return SystemFailure(path, errno);
  if (!S_ISREG(info.st_mode)) return Fail(ErrorKind::kBadInput, path + ": not a regular file");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return std::span<const std::byte>();
  void* data = MapAligned(fd, size);
  if (data == MAP_FAILED) return SystemFailure(path, errno);
  // Only a hint: what is read from disk then comes in huge pages where there are any.
  madvise(data, size, MADV_HUGEPAGE);
  return std::span(static_cast<const std::byte*>(data), size);
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemFailure(path, errno);
  auto bytes = Map(fd, path);
  close(fd);
  if (!bytes) return Failure(std::move(bytes).error());
  MappedFile file;
  file.data_ = bytes->data();
  file.size_ = bytes->size();
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  // munmap takes a mutable pointer, but only forgets the mapping.
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace vivace
