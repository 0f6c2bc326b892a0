#include "gguf/gguf_file.h"

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "gguf/gguf_reader.h"

namespace vivace {
namespace {

template <class T>
T Scalar(const GgufValue& value) {
  T out;
  std::memcpy(&out, value.bytes.data(), sizeof(T));
  return out;
}

Failure WrongType(std::string_view key, const GgufValue& value, std::string_view wanted) {
  return Fail(
      ErrorKind::kBadInput,
      fmt::format(
          "{} is {}{}, expected {}", key, GgufTypeName(value.type),
          value.type == GgufType::kArray ? fmt::format(" of {}", GgufTypeName(value.element)) : "",
          wanted));
}

struct SplitName {
  std::string stem;  // up to the number
  std::uint32_t count;
};

// "x-00001-of-00003.gguf" -> {"x-", 3}; nothing for other names or parts but the first.
std::optional<SplitName> ParseSplitName(const std::string& path) {
  constexpr std::string_view kSuffix = ".gguf";
  constexpr std::size_t kTail = 20;  // "00001-of-00003.gguf" and the dash before it
  if (path.size() < kTail || !path.ends_with(kSuffix)) return std::nullopt;
  const std::string_view tail = std::string_view(path).substr(path.size() - kTail);
  if (!tail.starts_with("-00001-of-")) return std::nullopt;
  std::uint32_t count = 0;
  const char* end = tail.data() + 15;
  const auto parsed = std::from_chars(tail.data() + 10, end, count);
  if (parsed.ec != std::errc() || parsed.ptr != end || count < 2) return std::nullopt;
  return SplitName{path.substr(0, path.size() - kTail + 1), count};
}

}  // namespace

Result<GgufFile> GgufFile::Open(const std::string& path) {
  std::vector<std::string> paths = {path};
  if (const auto split = ParseSplitName(path)) {
    for (std::uint32_t part = 2; part <= split->count; ++part) {
      paths.push_back(fmt::format("{}{:05}-of-{:05}.gguf", split->stem, part, split->count));
    }
  }
  GgufFile file;
  for (const std::string& part : paths) {
    auto mapped = MappedFile::Open(part);
    if (!mapped) return Failure(std::move(mapped).error());
    auto parsed = ParseGgufPart(mapped->bytes());
    if (!parsed) return Context(std::move(parsed).error(), part);
    file.mapped_.push_back(std::move(*mapped));
    const auto added = file.Add(std::move(*parsed));
    if (!added) return Context(added.error(), part);
  }
  const auto checked = file.CheckSplit(paths.size());
  if (!checked) return Context(checked.error(), path);
  return file;
}

Result<GgufFile> GgufFile::Parse(std::span<const std::byte> bytes) {
  auto part = ParseGgufPart(bytes);
  if (!part) return Failure(std::move(part).error());
  GgufFile file;
  VIVACE_RETURN_IF_ERROR(file.Add(std::move(*part)));
  return file;
}

Result<void> GgufFile::Add(GgufPart part) {
  if (version_ == 0) version_ = part.version;
  metadata_.merge(part.metadata);  // what is there already stays
  for (GgufTensor& tensor : part.tensors) {
    if (!tensor_index_.emplace(tensor.name, tensors_.size()).second) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("tensor {} is in an earlier part too", PrintableName(tensor.name)));
    }
    tensors_.push_back(std::move(tensor));
  }
  warnings_.insert(warnings_.end(), part.warnings.begin(), part.warnings.end());
  return {};
}

// The keys that splitting tools write agree with what was opened.
Result<void> GgufFile::CheckSplit(std::size_t opened) const {
  const auto count = GetU64("split.count");
  if (count && *count > 1 && *count != opened) {
    return Fail(
        ErrorKind::kBadInput,
        fmt::format("one of {} parts, {} opened; open the first, named -00001-of-{:05}.gguf",
                    *count, opened, *count));
  }
  const auto tensors = GetU64("split.tensors.count");
  if (tensors && opened > 1 && *tensors != tensors_.size()) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("{} parts with {} tensors, split.tensors.count is {}", opened,
                            tensors_.size(), *tensors));
  }
  return {};
}

const GgufTensor* GgufFile::FindTensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

Result<const GgufValue*> GgufFile::Find(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) {
    return Fail(ErrorKind::kNotFound, fmt::format("{} is missing", key));
  }
  return &found->second;
}

Result<std::uint64_t> GgufFile::GetU64(std::string_view key) const {
  const auto value = Find(key);
  if (!value) return Failure(value.error());
  const auto number = GgufUnsigned(**value);
  if (!number) return WrongType(key, **value, "a number from 0 on");
  return *number;
}

Result<std::uint32_t> GgufFile::GetU32(std::string_view key) const {
  const auto number = GetU64(key);
  if (!number) return Failure(number.error());
  if (*number > std::numeric_limits<std::uint32_t>::max()) {
    return Fail(ErrorKind::kBadInput, fmt::format("{} is {}, allowed is up to {}", key, *number,
                                                  std::numeric_limits<std::uint32_t>::max()));
  }
  return static_cast<std::uint32_t>(*number);
}

Result<float> GgufFile::GetF32(std::string_view key) const {
  const auto value = Find(key);
  if (!value) return Failure(value.error());
  if ((*value)->type == GgufType::kF32) return Scalar<float>(**value);
  if ((*value)->type == GgufType::kF64) return static_cast<float>(Scalar<double>(**value));
  return WrongType(key, **value, "f32");
}

Result<bool> GgufFile::GetBool(std::string_view key) const {
  const auto value = Find(key);
  if (!value) return Failure(value.error());
  if ((*value)->type != GgufType::kBool) return WrongType(key, **value, "bool");
  return Scalar<std::uint8_t>(**value) != 0;
}

Result<std::string_view> GgufFile::GetString(std::string_view key) const {
  const auto value = Find(key);
  if (!value) return Failure(value.error());
  if ((*value)->type != GgufType::kString) return WrongType(key, **value, "string");
  return std::string_view(reinterpret_cast<const char*>((*value)->bytes.data()),
                          (*value)->bytes.size());
}

Result<std::vector<std::string_view>> GgufFile::GetStrings(std::string_view key) const {
  const auto value = Find(key);
  if (!value) return Failure(value.error());
  if ((*value)->type != GgufType::kArray || (*value)->element != GgufType::kString) {
    return WrongType(key, **value, "array of string");
  }
  std::vector<std::string_view> strings;
  strings.reserve((*value)->count);
  GgufReader reader((*value)->bytes);
  for (std::uint64_t i = 0; i < (*value)->count; ++i) {
    const auto text = reader.ReadString(reader.remaining());
    if (!text) return Failure(text.error());
    strings.push_back(*text);
  }
  return strings;
}

Result<GgufValue> GgufFile::FindNumbers(std::string_view key, GgufType element) const {
  const auto value = Find(key);
  if (!value) return Failure(value.error());
  const GgufValue& array = **value;
  const bool same_kind =
      array.element == element || (IsGgufInteger(array.element) && IsGgufInteger(element) &&
                                   GgufTypeSize(array.element) == GgufTypeSize(element));
  if (array.type != GgufType::kArray || !same_kind) {
    return WrongType(key, array, fmt::format("array of {}", GgufTypeName(element)));
  }
  return array;
}

Failure GgufFile::OutOfRange(std::string_view key) {
  return Fail(ErrorKind::kBadInput, fmt::format("{} has a number beyond its range", key));
}

}  // namespace vivace
