// Any bytes: reading gives a file or an error. What is read can be asked for everything, and
// written again it is the same file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "gguf/gguf_file.h"
#include "gguf/gguf_writer.h"
#include "quant/decode.h"

namespace vivace {
namespace {

// Calls every getter on every key: most answer with an error.
void AskForAll(const GgufFile& file) {
  std::size_t answers = 0;
  for (const auto& [key, value] : file.metadata()) {
    answers += file.GetU32(key).has_value() + file.GetU64(key).has_value();
    answers += file.GetF32(key).has_value() + file.GetBool(key).has_value();
    answers += file.GetString(key).has_value() + file.GetStrings(key).has_value();
    answers += file.GetArray<float>(key).has_value() + file.GetArray<double>(key).has_value();
    answers += file.GetArray<std::int8_t>(key).has_value();
    answers += file.GetArray<std::uint16_t>(key).has_value();
    answers += file.GetArray<std::int32_t>(key).has_value();
    answers += file.GetArray<std::uint64_t>(key).has_value();
  }
  VIVACE_CHECK(answers <= 12 * file.metadata().size(), "more answers than questions");
  for (const GgufTensor& tensor : file.tensors()) {
    VIVACE_CHECK(file.FindTensor(tensor.name) == &tensor, "a tensor is not found by its name");
    std::vector<float> row(tensor.dims[0]);
    DecodeRow(tensor.type, tensor.bytes.data(), row.size(), row.data());
  }
}

void WriteAgain(const GgufFile& file) {
  GgufWriter writer;
  for (const auto& [key, value] : file.metadata()) writer.SetValue(key, value);
  for (const GgufTensor& tensor : file.tensors()) writer.AddTensor(tensor);
  const auto bytes = writer.ToBytes();
  VIVACE_CHECK(bytes.has_value(), "what was read is refused by the writer");
  const auto again = GgufFile::Parse(*bytes);
  VIVACE_CHECK(again.has_value(), "what was written is refused by the reader");
  VIVACE_CHECK(std::ranges::equal(again->tensors(), file.tensors(),
                                  [](const GgufTensor& a, const GgufTensor& b) {
                                    return a.name == b.name && a.type == b.type &&
                                           a.dims == b.dims && std::ranges::equal(a.bytes, b.bytes);
                                  }),
               "tensors differ after writing and reading");
  const std::size_t dropped = file.Has("general.alignment") ? 1 : 0;
  VIVACE_CHECK(again->metadata().size() + dropped == file.metadata().size(), "keys are lost");
}

}  // namespace
}  // namespace vivace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = vivace::GgufFile::Parse(std::as_bytes(std::span(data, size)));
  if (file) {
    vivace::AskForAll(*file);
    vivace::WriteAgain(*file);
  }
  return 0;
}
