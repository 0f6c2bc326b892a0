#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace vivace {
namespace {

Failure SystemFailure(const std::string& path, int code) {
  const ErrorKind kind = code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
  return Fail(kind, path + ": " + std::generic_category().message(code));
}

// mmap of a descriptor that the caller closes.
Result<std::span<const std::byte>> Map(int fd, const std::string& path) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) return SystemFailure(path, errno);
  if (!S_ISREG(info.st_mode)) return Fail(ErrorKind::kBadInput, path + ": not a regular file");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return std::span<const std::byte>();
  void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
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
