// Buffer: zeroed anonymous memory, page aligned; large ones on 2 MB boundaries, where the
// kernel can back them with huge pages. Address space is reserved at once, memory comes
// with the first write. Movable; spans into it must not outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace vivace {

enum class HugePages : std::uint8_t { kNo, kYes };

class Buffer {
 public:
  // kYes asks for huge pages; it is a hint. kExhausted when there is no address space.
  static Result<Buffer> Allocate(std::size_t bytes, HugePages huge);

  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  // The memory as an array of trivial values.
  template <class T>
  std::span<T> As() {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;     // as asked for
  void* mapping_ = nullptr;  // what munmap takes
  std::size_t mapped_ = 0;
};

}  // namespace vivace
