// GgufFile: a model file's metadata and tensors, as checked views of mapped bytes.
//
// Versions 2 and 3, little-endian. Nothing is trusted before it is checked against the
// bytes that remain. Views live as long as the file. Safe to read from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "gguf/gguf_value.h"
#include "quant/types.h"

namespace vivace {

struct GgufTensor {
  std::string_view name;
  QuantType type = QuantType::kF32;
  std::vector<std::uint64_t> dims;  // 1 to 4; dims[0] is the row length
  std::span<const std::byte> bytes;
};

class GgufFile {
 public:
  // A split file ("name-00001-of-00003.gguf") opens all its parts; `path` is the first.
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
  // T is float or a fixed-width integer; the file's element type must be the same, or
  // for integers of the same width.
  template <class T>
  Result<std::vector<T>> GetArray(std::string_view key) const {
    static_assert(std::is_arithmetic_v<T>);
    const auto value = FindNumbers(key, std::is_floating_point_v<T>, sizeof(T));
    if (!value) return Failure(value.error());
    std::vector<T> out(value->count);
    CopyBytes(*value, out.data());
    return out;
  }

 private:
  Result<void> ParsePart(std::span<const std::byte> bytes);
  Result<void> ReadMetadata(class GgufReader& reader, std::uint64_t count);
  Result<void> ReadTensors(class GgufReader& reader, std::uint64_t count,
                           std::span<const std::byte> bytes);
  Result<const GgufValue*> Find(std::string_view key) const;
  Result<GgufValue> FindNumbers(std::string_view key, bool floating, std::size_t width) const;
  static void CopyBytes(const GgufValue& value, void* out);
  std::uint64_t Alignment();

  std::vector<MappedFile> parts_;
  std::uint32_t version_ = 0;
  std::map<std::string_view, GgufValue> metadata_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string_view, std::size_t> tensor_index_;
  std::vector<std::string> warnings_;
};

}  // namespace vivace
