// What the tests of this module share: a small valid file, and bytes put together by hand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gguf/gguf_writer.h"

namespace vivace {

// Appends numbers and strings as a GGUF file has them: for files that no writer makes.
class RawBytes {
 public:
  template <class T>
  RawBytes& Number(T number) {
    const auto bytes = std::as_bytes(std::span(&number, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  RawBytes& U32(std::uint32_t number) { return Number(number); }
  RawBytes& U64(std::uint64_t number) { return Number(number); }
  RawBytes& Type(GgufType type) { return Number(type); }
  RawBytes& Text(std::string_view text) { return U64(text.size()).Plain(text); }
  RawBytes& Plain(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  // The file's first 24 bytes.
  RawBytes& Header(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
    return Plain("GGUF").U32(version).U64(tensors).U64(keys);
  }
  RawBytes& Zeros(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

inline constexpr std::array<std::byte, 128> kTensorBytes = {std::byte{1}, std::byte{2}};

// A writer with a value of every type, nested arrays and two tensors.
inline GgufWriter SmallFile(std::uint64_t alignment = kGgufAlignment) {
  GgufWriter writer(alignment);
  writer.Set("u8", std::uint8_t{200});
  writer.Set("i8", std::int8_t{-7});
  writer.Set("u16", std::uint16_t{60000});
  writer.Set("i16", std::int16_t{-300});
  writer.Set("u32", std::uint32_t{4000000000});
  writer.Set("i32", std::int32_t{-70000});
  writer.Set("u64", std::uint64_t{1} << 40);
  writer.Set("i64", std::int64_t{-1});
  writer.Set("f32", 1.25F);
  writer.Set("f64", 2.5);
  writer.Set("bool", true);
  writer.Set("string", std::string_view("caf\xc3\xa9"));
  const std::int32_t numbers[] = {3, -4, 5};
  writer.SetArray<std::int32_t>("numbers", numbers);
  const std::uint32_t large[] = {1, 0x80000000U};
  writer.SetArray<std::uint32_t>("large", large);
  const float scores[] = {0.5F, -1};
  writer.SetArray<float>("scores", scores);
  const std::string_view tokens[] = {"a", "", "long token"};
  writer.SetStrings("tokens", tokens);
  RawBytes inner;  // [[7, 8], []]
  inner.Type(GgufType::kU8).U64(2).Plain("\7\10").Type(GgufType::kString).U64(0);
  writer.SetValue(
      "nested",
      {.type = GgufType::kArray, .element = GgufType::kArray, .count = 2, .bytes = inner.bytes()});
  const std::span<const std::byte> bytes(kTensorBytes);
  writer.AddTensor(
      {.name = "norm", .type = QuantType::kF32, .dims = {3}, .bytes = bytes.first(12)});
  writer.AddTensor(
      {.name = "matrix", .type = QuantType::kQ4_0, .dims = {64, 3}, .bytes = bytes.first(108)});
  return writer;
}

}  // namespace vivace
