#include "gguf/gguf_part.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "gguf/gguf_reader.h"

namespace vivace {
namespace {

constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 48;  // of one tensor

template <class T>
std::optional<std::uint64_t> UnsignedOf(const GgufValue& value) {
  T number;
  std::memcpy(&number, value.bytes.data(), sizeof(T));
  if (number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

struct Counts {
  std::uint64_t tensors;
  std::uint64_t keys;
};

Result<Counts> ReadHeader(GgufReader& reader, GgufPart& part) {
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
  part.version = *version;
  const auto tensors = reader.Read<std::uint64_t>();
  if (!tensors) return Failure(tensors.error());
  const auto keys = reader.Read<std::uint64_t>();
  if (!keys) return Failure(keys.error());
  // The least a key (8 + 4 + 1) and a tensor (8 + 4 + 8 + 4 + 8) can take.
  if (*keys > reader.remaining() / 13 || *tensors > reader.remaining() / 32) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("{} keys and {} tensors in a file of {} bytes", *keys, *tensors,
                            reader.offset() + reader.remaining()));
  }
  return Counts{.tensors = *tensors, .keys = *keys};
}

Result<void> ReadMetadata(GgufReader& reader, std::uint64_t count, GgufPart& part) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto key = reader.ReadString(kGgufNameBytes);
    if (!key) return Context(key.error(), fmt::format("key {}", i));
    const auto value = reader.ReadValue();
    if (!value) return Context(value.error(), PrintableName(*key));
    if (!part.metadata.emplace(*key, *value).second) {
      return Fail(ErrorKind::kBadInput, fmt::format("key {} appears twice", PrintableName(*key)));
    }
  }
  return {};
}

Result<std::vector<std::uint64_t>> ReadDims(GgufReader& reader) {
  const auto count = reader.Read<std::uint32_t>();
  if (!count) return Failure(count.error());
  if (*count < 1 || *count > 4) {
    return Fail(ErrorKind::kBadInput, fmt::format("{} dimensions, allowed is 1 to 4", *count));
  }
  std::vector<std::uint64_t> dims;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto dim = reader.Read<std::uint64_t>();
    if (!dim) return Failure(dim.error());
    dims.push_back(*dim);
  }
  return dims;
}

struct TensorEntry {
  GgufTensor tensor;  // without bytes
  std::uint64_t size;
  std::uint64_t offset;  // from the start of the data
};

Result<TensorEntry> ReadTensor(GgufReader& reader, std::string_view name) {
  auto dims = ReadDims(reader);
  if (!dims) return Failure(std::move(dims).error());
  const auto id = reader.Read<std::uint32_t>();
  if (!id) return Failure(id.error());
  const auto type = QuantTypeFromId(*id);
  if (!type) return Failure(type.error());
  const auto size = GgufTensorBytes(*type, *dims);
  if (!size) return Failure(size.error());
  const auto offset = reader.Read<std::uint64_t>();
  if (!offset) return Failure(offset.error());
  return TensorEntry{.tensor = {.name = name, .type = *type, .dims = std::move(*dims), .bytes = {}},
                     .size = *size,
                     .offset = *offset};
}

Result<std::vector<TensorEntry>> ReadTensors(GgufReader& reader, std::uint64_t count) {
  std::vector<TensorEntry> entries;
  std::set<std::string_view> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto name = reader.ReadString(kGgufNameBytes);
    if (!name) return Context(name.error(), fmt::format("tensor {}", i));
    auto entry = ReadTensor(reader, *name);
    if (!entry) return Context(entry.error(), "tensor " + PrintableName(*name));
    if (!names.insert(*name).second) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("tensor {} appears twice", PrintableName(*name)));
    }
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Result<std::uint64_t> Alignment(GgufPart& part) {
  const auto found = part.metadata.find("general.alignment");
  if (found == part.metadata.end()) return kGgufAlignment;
  const GgufValue& value = found->second;
  if (!IsGgufInteger(value.type)) {
    part.warnings.push_back(fmt::format("general.alignment is {}, expected u32; {} is used",
                                        GgufTypeName(value.type), kGgufAlignment));
    return kGgufAlignment;
  }
  const std::uint64_t alignment = GgufUnsigned(value).value_or(0);
  if (alignment == 0 || alignment > kGgufMaxAlignment || (alignment & (alignment - 1)) != 0) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("general.alignment is {}, allowed are the powers of two up to {}",
                            GgufUnsigned(value) ? std::to_string(alignment) : "negative",
                            kGgufMaxAlignment));
  }
  return alignment;
}

// Gives the tensors their bytes. `data` is all that follows the header.
Result<void> PlaceTensors(std::vector<TensorEntry>& entries, std::uint64_t alignment,
                          std::span<const std::byte> data, GgufPart& part) {
  for (auto& [tensor, size, offset] : entries) {
    if (offset % alignment != 0) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("tensor {} starts at {}, allowed is a multiple of {}",
                              PrintableName(tensor.name), offset, alignment));
    }
    if (offset > data.size() || size > data.size() - offset) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("tensor {} has {} bytes at {}, the file has {} bytes of data",
                              PrintableName(tensor.name), size, offset, data.size()));
    }
    tensor.bytes = data.subspan(offset, size);
    part.tensors.push_back(std::move(tensor));
  }
  return {};
}

}  // namespace

std::optional<std::uint64_t> GgufUnsigned(const GgufValue& value) {
  switch (value.type) {
    case GgufType::kU8:
      return UnsignedOf<std::uint8_t>(value);
    case GgufType::kU16:
      return UnsignedOf<std::uint16_t>(value);
    case GgufType::kU32:
      return UnsignedOf<std::uint32_t>(value);
    case GgufType::kU64:
      return UnsignedOf<std::uint64_t>(value);
    case GgufType::kI8:
      return UnsignedOf<std::int8_t>(value);
    case GgufType::kI16:
      return UnsignedOf<std::int16_t>(value);
    case GgufType::kI32:
      return UnsignedOf<std::int32_t>(value);
    case GgufType::kI64:
      return UnsignedOf<std::int64_t>(value);
    default:
      return std::nullopt;
  }
}

Result<std::uint64_t> GgufTensorBytes(QuantType type, std::span<const std::uint64_t> dims) {
  if (dims.empty() || dims.size() > 4) {
    return Fail(ErrorKind::kBadInput, fmt::format("{} dimensions, allowed is 1 to 4", dims.size()));
  }
  std::uint64_t values = 1;
  for (const std::uint64_t dim : dims) {
    if (dim < 1 || dim > kMaxValues / values) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("dimension {}, allowed is 1 to {}", dim, kMaxValues / values));
    }
    values *= dim;
  }
  // No overflow below: 2^48 values have at most 2^50 bytes.
  const auto row = RowBytes(type, dims[0]);
  if (!row) return Failure(row.error());
  return *row * (values / dims[0]);
}

Result<GgufPart> ParseGgufPart(std::span<const std::byte> bytes) {
  GgufPart part;
  GgufReader reader(bytes);
  const auto counts = ReadHeader(reader, part);
  if (!counts) return Failure(counts.error());
  VIVACE_RETURN_IF_ERROR(ReadMetadata(reader, counts->keys, part));
  auto entries = ReadTensors(reader, counts->tensors);
  if (!entries) return Failure(std::move(entries).error());
  const auto alignment = Alignment(part);
  if (!alignment) return Failure(alignment.error());
  const std::uint64_t start = (reader.offset() + *alignment - 1) / *alignment * *alignment;
  const auto data = bytes.subspan(std::min<std::uint64_t>(start, bytes.size()));
  VIVACE_RETURN_IF_ERROR(PlaceTensors(*entries, *alignment, data, part));
  return part;
}

}  // namespace vivace
