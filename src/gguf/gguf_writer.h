// GgufWriter: puts a GGUF file together, version 3, little-endian.
//
// Metadata is copied; tensors are views of bytes that the caller keeps until the file is
// written. Wrong arguments are errors of the writing call, so that calls can be chained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "gguf/gguf_part.h"
#include "gguf/gguf_value.h"

namespace vivace {

class GgufWriter {
 public:
  // `alignment` of the tensors' data: a power of two up to kGgufMaxAlignment.
  explicit GgufWriter(std::uint64_t alignment = kGgufAlignment);

  // A key that is there already gets the new value, in its old place. "general.alignment"
  // is the constructor's business and ignored here.
  template <class T>
    requires std::is_arithmetic_v<T>
  void Set(std::string_view key, T value) {
    SetValue(key, {.type = GgufTypeOf<T>(),
                   .element = GgufTypeOf<T>(),
                   .count = 1,
                   .bytes = std::as_bytes(std::span(&value, 1))});
  }
  void Set(std::string_view key, std::string_view text);
  template <class T>
    requires std::is_arithmetic_v<T>
  void SetArray(std::string_view key, std::span<const T> values) {
    SetValue(key, {.type = GgufType::kArray,
                   .element = GgufTypeOf<T>(),
                   .count = values.size(),
                   .bytes = std::as_bytes(values)});
  }
  void SetStrings(std::string_view key, std::span<const std::string_view> values);
  // Any value, as a reader gives it: the way to copy metadata and to write nested arrays.
  void SetValue(std::string_view key, const GgufValue& value);

  void AddTensor(const GgufTensor& tensor);

  // Fails like WriteFile, but for kIo.
  Result<std::vector<std::byte>> ToBytes() const;
  // Replaces `path` in one step: it holds the old content or all of the new. kBadInput for a
  // tensor whose bytes do not fit its type and dimensions, for names that are too long or
  // not unique; kIo with the system's reason.
  Result<void> WriteFile(const std::string& path) const;

 private:
  struct Entry {
    std::string key;
    std::vector<std::byte> value;  // with its type, as in the file
  };

  Result<void> Check() const;
  // All before the tensors' data, padded to the alignment.
  std::vector<std::byte> Header() const;
  std::uint64_t Padded(std::uint64_t size) const;

  std::uint64_t alignment_;
  std::vector<Entry> metadata_;
  std::vector<GgufTensor> tensors_;
};

}  // namespace vivace
