#include "gguf/gguf_reader.h"

#include <fmt/format.h>

namespace vivace {
namespace {

constexpr int kMaxArrayDepth = 4;

// The least bytes an element of an array can take: a string its length, an array its
// element type and count.
std::uint64_t LeastBytes(GgufType type) {
  if (type == GgufType::kString) return 8;
  return type == GgufType::kArray ? 12 : GgufTypeSize(type);
}

}  // namespace

std::string PrintableName(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  std::string out(name.substr(0, kLongest));
  for (char& c : out) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  if (name.size() > kLongest) out += "...";
  return out;
}

std::size_t GgufTypeSize(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      break;
  }
  return 0;
}

const char* GgufTypeName(GgufType type) {
  constexpr const char* kNames[kGgufTypes] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                              "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[static_cast<std::uint32_t>(type)];
}

bool IsGgufInteger(GgufType type) {
  return type != GgufType::kBool && type != GgufType::kF32 && type != GgufType::kF64 &&
         GgufTypeSize(type) != 0;
}

Result<std::span<const std::byte>> GgufReader::Take(std::uint64_t size) {
  if (size > remaining()) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("{} bytes wanted at offset {}, the file has {} more", size, offset_,
                            remaining()));
  }
  const auto bytes = bytes_.subspan(offset_, size);
  offset_ += size;
  return bytes;
}

Result<std::string_view> GgufReader::ReadString(std::uint64_t limit) {
  const auto length = Read<std::uint64_t>();
  if (!length) return Failure(length.error());
  if (*length > limit) {
    return Fail(
        ErrorKind::kBadInput,
        fmt::format("a string of {} bytes at offset {}, allowed is {}", *length, offset_, limit));
  }
  const auto bytes = Take(*length);
  if (!bytes) return Failure(bytes.error());
  return std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

Result<GgufType> GgufReader::ReadType() {
  const auto type = Read<std::uint32_t>();
  if (!type) return Failure(type.error());
  if (*type >= kGgufTypes) {
    return Fail(ErrorKind::kBadInput, fmt::format("value type {} at offset {}, allowed is 0 to {}",
                                                  *type, offset_ - 4, kGgufTypes - 1));
  }
  return static_cast<GgufType>(*type);
}

Result<GgufValue> GgufReader::ReadValue() {
  const auto type = ReadType();
  if (!type) return Failure(type.error());
  if (*type == GgufType::kArray) return ReadArray(1);
  GgufValue value = {.type = *type, .element = *type, .count = 1, .bytes = {}};
  if (*type == GgufType::kString) {
    const auto text = ReadString(remaining());
    if (!text) return Failure(text.error());
    value.bytes = std::as_bytes(std::span(text->data(), text->size()));
    return value;
  }
  const auto bytes = Take(GgufTypeSize(*type));
  if (!bytes) return Failure(bytes.error());
  value.bytes = *bytes;
  return value;
}

Result<GgufValue> GgufReader::ReadArray(int depth) {
  if (depth > kMaxArrayDepth) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("arrays nested {} deep at offset {}, allowed is {}", depth, offset_,
                            kMaxArrayDepth));
  }
  const auto element = ReadType();
  if (!element) return Failure(element.error());
  const auto count = Read<std::uint64_t>();
  if (!count) return Failure(count.error());
  if (*count > remaining() / LeastBytes(*element)) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("an array of {} {} at offset {}, the file has {} more bytes", *count,
                            GgufTypeName(*element), offset_, remaining()));
  }
  const std::uint64_t begin = offset_;
  VIVACE_RETURN_IF_ERROR(SkipElements(*element, *count, depth));
  return GgufValue{.type = GgufType::kArray,
                   .element = *element,
                   .count = *count,
                   .bytes = bytes_.subspan(begin, offset_ - begin)};
}

// Precondition: `count` elements of the least size would fit.
Result<void> GgufReader::SkipElements(GgufType element, std::uint64_t count, int depth) {
  if (element == GgufType::kString) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto text = ReadString(remaining());
      if (!text) return Failure(text.error());
    }
  } else if (element == GgufType::kArray) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto array = ReadArray(depth + 1);
      if (!array) return Failure(array.error());
    }
  } else {
    offset_ += count * GgufTypeSize(element);
  }
  return {};
}

}  // namespace vivace
