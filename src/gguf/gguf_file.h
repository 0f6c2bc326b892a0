// GgufFile: a model file's metadata and tensors, as checked views of mapped bytes.
//
// Versions 2 and 3, little-endian. Views live as long as the file. Safe to read from any
// thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "gguf/gguf_part.h"
#include "gguf/gguf_value.h"

namespace vivace {

class GgufFile {
 public:
  // A split file ("name-00001-of-00003.gguf") opens all its parts; `path` is the first.
  // Metadata is that of the first part, with what later parts add.
  static Result<GgufFile> Open(const std::string& path);
  // The same of bytes that the caller keeps.
  static Result<GgufFile> Parse(std::span<const std::byte> bytes);

  std::uint32_t version() const { return version_; }
  const std::map<std::string_view, GgufValue>& metadata() const { return metadata_; }
  std::span<const GgufTensor> tensors() const { return tensors_; }
  const GgufTensor* FindTensor(std::string_view name) const;
  // What was odd but could be read around, a line each.
  const std::vector<std::string>& warnings() const { return warnings_; }

  bool Has(std::string_view key) const { return metadata_.contains(key); }
  // kNotFound when the key is missing, kBadInput when it has another type. Integers of
  // every width are accepted where the value fits.
  Result<std::uint32_t> GetU32(std::string_view key) const;
  Result<std::uint64_t> GetU64(std::string_view key) const;
  Result<float> GetF32(std::string_view key) const;
  Result<bool> GetBool(std::string_view key) const;
  Result<std::string_view> GetString(std::string_view key) const;
  Result<std::vector<std::string_view>> GetStrings(std::string_view key) const;
  // T is float, double or a fixed-width integer. The file's elements must be of the same
  // width and kind; an integer array of the other signedness is accepted where all fit.
  template <class T>
  Result<std::vector<T>> GetArray(std::string_view key) const {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    const auto value = FindNumbers(key, GgufTypeOf<T>());
    if (!value) return Failure(value.error());
    std::vector<T> out(value->count);
    if (!out.empty()) std::memcpy(out.data(), value->bytes.data(), value->bytes.size());
    if constexpr (std::is_integral_v<T>) {
      if (value->element != GgufTypeOf<T>()) {
        for (const T number : out) {
          // The sign bit is set: negative here, or too large there.
          if (std::make_signed_t<T>(number) < 0) return OutOfRange(key);
        }
      }
    }
    return out;
  }

 private:
  Result<void> Add(GgufPart part);
  Result<void> CheckSplit(std::size_t opened) const;
  Result<const GgufValue*> Find(std::string_view key) const;
  Result<GgufValue> FindNumbers(std::string_view key, GgufType element) const;
  static Failure OutOfRange(std::string_view key);

  std::vector<MappedFile> mapped_;
  std::uint32_t version_ = 0;
  std::map<std::string_view, GgufValue> metadata_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string_view, std::size_t> tensor_index_;
  std::vector<std::string> warnings_;
};

}  // namespace vivace
