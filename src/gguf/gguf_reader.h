// GgufReader: reads numbers and values from untrusted bytes, never past their end.
//
// The first failure names the offset; the reader must not be used after it.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gguf/gguf_value.h"

namespace vivace {

// `name` from a file, fit for one line of an error message: printable ASCII, cut after 80.
std::string PrintableName(std::string_view name);

class GgufReader {
 public:
  explicit GgufReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t offset() const { return offset_; }
  std::uint64_t remaining() const { return bytes_.size() - offset_; }

  template <class T>
  Result<T> Read() {
    const auto bytes = Take(sizeof(T));
    if (!bytes) return Failure(bytes.error());
    T value;
    std::memcpy(&value, bytes->data(), sizeof(T));
    return value;
  }

  // The next `size` bytes.
  Result<std::span<const std::byte>> Take(std::uint64_t size);
  // A string of at most `limit` bytes, with its 8-byte length before it.
  Result<std::string_view> ReadString(std::uint64_t limit);
  // A value with its type before it. Numeric arrays cost O(1), others one walk.
  Result<GgufValue> ReadValue();

 private:
  Result<GgufType> ReadType();
  Result<GgufValue> ReadArray(int depth);
  Result<void> SkipElements(GgufType element, std::uint64_t count, int depth);

  std::span<const std::byte> bytes_;
  std::uint64_t offset_ = 0;
};

}  // namespace vivace
