#include "gguf/gguf_file.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "gguf/gguf_reader.h"

namespace vivace {
namespace {

constexpr std::uint64_t kMaxNameBytes = 1024;
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kMaxAlignment = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 48;  // of one tensor

template <class T>
T Scalar(const GgufValue& value) {
  T out;
  std::memcpy(&out, value.bytes.data(), sizeof(T));
  return out;
}

// The value as an unsigned number, or nothing for other types and negative numbers.
std::optional<std::uint64_t> AsUnsigned(const GgufValue& value) {
  std::int64_t number = 0;
  switch (value.type) {
    case GgufType::kU8:
      return Scalar<std::uint8_t>(value);
    case GgufType::kU16:
      return Scalar<std::uint16_t>(value);
    case GgufType::kU32:
      return Scalar<std::uint32_t>(value);
    case GgufType::kU64:
      return Scalar<std::uint64_t>(value);
    case GgufType::kI8:
      number = Scalar<std::int8_t>(value);
      break;
    case GgufType::kI16:
      number = Scalar<std::int16_t>(value);
      break;
    case GgufType::kI32:
      number = Scalar<std::int32_t>(value);
      break;
    case GgufType::kI64:
      number = Scalar<std::int64_t>(value);
      break;
    default:
      return std::nullopt;
  }
  if (number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

Failure WrongType(std::string_view key, const GgufValue& value, const char* wanted) {
  return Fail(ErrorKind::kBadInput,
              fmt::format("{} is {}{}, expected {}", key, GgufTypeName(value.type),
                          value.type == GgufType::kArray
                              ? fmt::format(" of {}", GgufTypeName(value.element))
                              : "",
                          wanted));
}

Result<std::vector<std::uint64_t>> ReadDims(GgufReader& reader, std::string_view name) {
  const auto count = reader.Read<std::uint32_t>();
  if (!count) return Failure(count.error());
  if (*count < 1 || *count > 4) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("tensor {} has {} dimensions, allowed is 1 to 4", name, *count));
  }
  std::vector<std::uint64_t> dims;
  std::uint64_t values = 1;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto dim = reader.Read<std::uint64_t>();
    if (!dim) return Failure(dim.error());
    if (*dim < 1 || *dim > kMaxValues / values) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("tensor {} has dimension {}, allowed is 1 to {}", name, *dim,
                              kMaxValues / values));
    }
    values *= *dim;
    dims.push_back(*dim);
  }
  return dims;
}

// Bytes of a tensor; cannot overflow because ReadDims bounds the number of values.
Result<std::uint64_t> TensorBytes(QuantType type, const std::vector<std::uint64_t>& dims) {
  const auto row = RowBytes(type, dims[0]);
  if (!row) return Failure(row.error());
  std::uint64_t bytes = *row;
  for (std::size_t i = 1; i < dims.size(); ++i) bytes *= dims[i];
  return bytes;
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
    const auto parsed = file.ParsePart(mapped->bytes());
    if (!parsed) return Context(parsed.error(), part);
    file.parts_.push_back(std::move(*mapped));
  }
  const auto stated = file.GetU32("split.count");
  if (stated && *stated > 1 && *stated != paths.size()) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("{}: one of {} parts; open the first, named …-00001-of-{:05}.gguf", path,
                            *stated, *stated));
  }
  return file;
}

Result<GgufFile> GgufFile::Parse(std::span<const std::byte> bytes) {
  GgufFile file;
  VIVACE_RETURN_IF_ERROR(file.ParsePart(bytes));
  return file;
}

Result<void> GgufFile::ParsePart(std::span<const std::byte> bytes) {
  GgufReader reader(bytes);
  const auto magic = reader.Read<std::array<char, 4>>();
  if (!magic || std::string_view(magic->data(), magic->size()) != "GGUF") {
    return Fail(ErrorKind::kBadInput, "not a GGUF file");
  }
  const auto version = reader.Read<std::uint32_t>();
  if (!version) return Failure(version.error());
  if (*version != 2 && *version != 3) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("GGUF version {}, allowed is 2 or 3, little-endian", *version));
  }
  version_ = *version;
  const auto tensors = reader.Read<std::uint64_t>();
  if (!tensors) return Failure(tensors.error());
  const auto keys = reader.Read<std::uint64_t>();
  if (!keys) return Failure(keys.error());
  // The least a key (8 + 4 + 1) and a tensor (8 + 4 + 8 + 4 + 8) can take.
  if (*keys > reader.remaining() / 13 || *tensors > reader.remaining() / 32) {
    return Fail(ErrorKind::kBadInput, fmt::format("{} keys and {} tensors in a file of {} bytes",
                                                  *keys, *tensors, bytes.size()));
  }
  VIVACE_RETURN_IF_ERROR(ReadMetadata(reader, *keys));
  return ReadTensors(reader, *tensors, bytes);
}

Result<void> GgufFile::ReadMetadata(GgufReader& reader, std::uint64_t count) {
  const bool first_part = parts_.empty();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto key = reader.ReadString(kMaxNameBytes);
    if (!key) return Context(key.error(), fmt::format("key {}", i));
    const auto value = reader.ReadValue();
    if (!value) return Context(value.error(), std::string(*key));
    const bool inserted = metadata_.emplace(*key, *value).second;
    // Later parts of a split file repeat some keys of the first.
    if (!inserted && first_part) {
      return Fail(ErrorKind::kBadInput, fmt::format("key {} appears twice", *key));
    }
  }
  return {};
}

std::uint64_t GgufFile::Alignment() {
  const auto found = metadata_.find("general.alignment");
  if (found == metadata_.end()) return kDefaultAlignment;
  const auto alignment = AsUnsigned(found->second);
  if (alignment && *alignment >= 1 && *alignment <= kMaxAlignment &&
      (*alignment & (*alignment - 1)) == 0) {
    return *alignment;
  }
  warnings_.push_back(fmt::format("general.alignment is not a power of two up to {}, {} is used",
                                  kMaxAlignment, kDefaultAlignment));
  return kDefaultAlignment;
}

Result<void> GgufFile::ReadTensors(GgufReader& reader, std::uint64_t count,
                                   std::span<const std::byte> bytes) {
  const std::size_t first = tensors_.size();
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < count; ++i) {
    GgufTensor tensor;
    const auto name = reader.ReadString(kMaxNameBytes);
    if (!name) return Context(name.error(), fmt::format("tensor {}", i));
    tensor.name = *name;
    auto dims = ReadDims(reader, *name);
    if (!dims) return Failure(std::move(dims).error());
    tensor.dims = std::move(*dims);
    const auto id = reader.Read<std::uint32_t>();
    if (!id) return Failure(id.error());
    const auto type = QuantTypeFromId(*id);
    if (!type) return Context(type.error(), fmt::format("tensor {}", *name));
    tensor.type = *type;
    const auto offset = reader.Read<std::uint64_t>();
    if (!offset) return Failure(offset.error());
    if (!tensor_index_.emplace(*name, tensors_.size()).second) {
      return Fail(ErrorKind::kBadInput, fmt::format("tensor {} appears twice", *name));
    }
    offsets.push_back(*offset);
    tensors_.push_back(std::move(tensor));
  }
  const std::uint64_t alignment = Alignment();
  const std::uint64_t data = (reader.offset() + alignment - 1) / alignment * alignment;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    GgufTensor& tensor = tensors_[first + i];
    const auto size = TensorBytes(tensor.type, tensor.dims);
    if (!size) return Context(size.error(), fmt::format("tensor {}", tensor.name));
    const std::uint64_t available = data > bytes.size() ? 0 : bytes.size() - data;
    if (offsets[i] % alignment != 0) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("tensor {} starts at {}, allowed is a multiple of {}", tensor.name,
                              offsets[i], alignment));
    }
    if (offsets[i] > available || *size > available - offsets[i]) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("tensor {} has {} bytes at {}, the file has {} bytes of data",
                              tensor.name, *size, offsets[i], available));
    }
    tensor.bytes = bytes.subspan(data + offsets[i], *size);
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
  const auto number = AsUnsigned(**value);
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

Result<GgufValue> GgufFile::FindNumbers(std::string_view key, bool floating,
                                        std::size_t width) const {
  const auto value = Find(key);
  if (!value) return Failure(value.error());
  const GgufValue& array = **value;
  const bool is_float = array.element == GgufType::kF32 || array.element == GgufType::kF64;
  if (array.type != GgufType::kArray || is_float != floating ||
      GgufTypeSize(array.element) != width) {
    return WrongType(key, array,
                     floating ? "array of f32" : (width == 4 ? "array of i32" : "array of integers"));
  }
  return array;
}

void GgufFile::CopyBytes(const GgufValue& value, void* out) {
  if (!value.bytes.empty()) std::memcpy(out, value.bytes.data(), value.bytes.size());
}

}  // namespace vivace
