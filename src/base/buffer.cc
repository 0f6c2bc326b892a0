#include "base/buffer.h"

#include <sys/mman.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "base/huge_page.h"

namespace vivace {

Result<Buffer> Buffer::Allocate(std::size_t bytes, HugePages huge) {
  Buffer buffer;
  if (bytes == 0) return buffer;
  const std::size_t slack = bytes >= kHugePage ? kHugePage : 0;
  if (bytes > SIZE_MAX / 2) {
    return Fail(ErrorKind::kExhausted, "cannot reserve " + std::to_string(bytes) + " bytes");
  }
  void* mapping = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return Fail(ErrorKind::kExhausted, "cannot reserve " + std::to_string(bytes) +
                                           " bytes: " + std::generic_category().message(errno));
  }
  buffer.mapping_ = mapping;
  buffer.mapped_ = bytes + slack;
  buffer.size_ = bytes;
  auto address = reinterpret_cast<std::uintptr_t>(mapping);
  if (slack != 0) address = (address + kHugePage - 1) & ~(kHugePage - 1);
  buffer.data_ = reinterpret_cast<std::byte*>(address);
  // Only a hint: without huge pages everything still works.
  if (slack != 0 && huge == HugePages::kYes) madvise(buffer.data_, bytes, MADV_HUGEPAGE);
  return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

Buffer::~Buffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

}  // namespace vivace
