#include "gguf/gguf_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "base/check.h"
#include "gguf/gguf_reader.h"

namespace vivace {
namespace {

void AppendBytes(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  // Not insert: GCC 12 warns of an overflow in it that is not there.
  const std::size_t end = out.size();
  out.resize(end + bytes.size());
  std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(end));
}

template <class T>
void AppendNumber(std::vector<std::byte>& out, T number) {
  AppendBytes(out, std::as_bytes(std::span(&number, 1)));
}

void AppendString(std::vector<std::byte>& out, std::string_view text) {
  AppendNumber(out, std::uint64_t{text.size()});
  AppendBytes(out, std::as_bytes(std::span(text)));
}

// A new file beside its final place, removed again unless it gets there.
class ReplacingFile {
 public:
  explicit ReplacingFile(const std::string& path)
      : path_(path), temporary_(fmt::format("{}.{}.tmp", path, getpid())) {
    file_ = std::fopen(temporary_.c_str(), "wbxe");
    failed_ = file_ == nullptr ? errno : 0;
  }
  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;
  ~ReplacingFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::remove(temporary_.c_str());
  }

  void Append(std::span<const std::byte> bytes) {
    if (failed_ == 0 && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
      failed_ = errno;
    }
  }

  Result<void> Finish() {
    if (failed_ == 0 && (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0)) failed_ = errno;
    if (failed_ == 0 && std::rename(temporary_.c_str(), path_.c_str()) != 0) failed_ = errno;
    if (failed_ != 0) {
      const std::string& name = file_ == nullptr ? temporary_ : path_;
      return Fail(ErrorKind::kIo, name + ": " + std::generic_category().message(failed_));
    }
    std::fclose(file_);
    file_ = nullptr;
    return {};
  }

 private:
  std::string path_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
  int failed_ = 0;
};

}  // namespace

GgufWriter::GgufWriter(std::uint64_t alignment) : alignment_(alignment) {
  VIVACE_CHECK(
      alignment >= 1 && alignment <= kGgufMaxAlignment && (alignment & (alignment - 1)) == 0,
      "the alignment of a GGUF file is a power of two");
  if (alignment != kGgufAlignment) {
    std::vector<std::byte> value;
    AppendNumber(value, GgufType::kU32);
    AppendNumber(value, static_cast<std::uint32_t>(alignment));
    metadata_.push_back({.key = "general.alignment", .value = std::move(value)});
  }
}

void GgufWriter::Set(std::string_view key, std::string_view text) {
  SetValue(key, {.type = GgufType::kString,
                 .element = GgufType::kString,
                 .count = 1,
                 .bytes = std::as_bytes(std::span(text))});
}

void GgufWriter::SetStrings(std::string_view key, std::span<const std::string_view> values) {
  std::vector<std::byte> bytes;
  for (const std::string_view text : values) AppendString(bytes, text);
  SetValue(key, {.type = GgufType::kArray,
                 .element = GgufType::kString,
                 .count = values.size(),
                 .bytes = bytes});
}

void GgufWriter::SetValue(std::string_view key, const GgufValue& value) {
  if (key == "general.alignment") return;
  std::vector<std::byte> bytes;
  AppendNumber(bytes, value.type);
  if (value.type == GgufType::kArray) {
    AppendNumber(bytes, value.element);
    AppendNumber(bytes, value.count);
  } else if (value.type == GgufType::kString) {
    AppendNumber(bytes, std::uint64_t{value.bytes.size()});
  }
  AppendBytes(bytes, value.bytes);
  const auto found = std::ranges::find(metadata_, key, &Entry::key);
  if (found != metadata_.end()) {
    found->value = std::move(bytes);
  } else {
    metadata_.push_back({.key = std::string(key), .value = std::move(bytes)});
  }
}

void GgufWriter::AddTensor(const GgufTensor& tensor) { tensors_.push_back(tensor); }

Result<void> GgufWriter::Check() const {
  std::set<std::string_view> names;
  for (const GgufTensor& tensor : tensors_) {
    const std::string where = "tensor " + PrintableName(tensor.name);
    const auto size = GgufTensorBytes(tensor.type, tensor.dims);
    if (!size) return Context(size.error(), where);
    if (*size != tensor.bytes.size()) {
      return Fail(ErrorKind::kBadInput, fmt::format("{} has {} bytes, its dimensions make {}",
                                                    where, tensor.bytes.size(), *size));
    }
    if (!names.insert(tensor.name).second) {
      return Fail(ErrorKind::kBadInput, where + " is given twice");
    }
    if (tensor.name.size() > kGgufNameBytes) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("{} has a name of {} bytes, allowed is up to {}", where,
                              tensor.name.size(), kGgufNameBytes));
    }
  }
  for (const Entry& entry : metadata_) {
    if (entry.key.size() > kGgufNameBytes) {
      return Fail(ErrorKind::kBadInput, fmt::format("a key of {} bytes, allowed is up to {}",
                                                    entry.key.size(), kGgufNameBytes));
    }
  }
  return {};
}

std::uint64_t GgufWriter::Padded(std::uint64_t size) const {
  return (size + alignment_ - 1) / alignment_ * alignment_;
}

std::vector<std::byte> GgufWriter::Header() const {
  std::vector<std::byte> out;
  AppendBytes(out, std::as_bytes(std::span(std::string_view("GGUF"))));
  AppendNumber(out, std::uint32_t{3});
  AppendNumber(out, std::uint64_t{tensors_.size()});
  AppendNumber(out, std::uint64_t{metadata_.size()});
  for (const Entry& entry : metadata_) {
    AppendString(out, entry.key);
    AppendBytes(out, entry.value);
  }
  std::uint64_t offset = 0;
  for (const GgufTensor& tensor : tensors_) {
    AppendString(out, tensor.name);
    AppendNumber(out, static_cast<std::uint32_t>(tensor.dims.size()));
    for (const std::uint64_t dim : tensor.dims) AppendNumber(out, dim);
    AppendNumber(out, tensor.type);
    AppendNumber(out, offset);
    offset += Padded(tensor.bytes.size());
  }
  out.resize(Padded(out.size()));
  return out;
}

Result<std::vector<std::byte>> GgufWriter::ToBytes() const {
  VIVACE_RETURN_IF_ERROR(Check());
  std::vector<std::byte> out = Header();
  for (const GgufTensor& tensor : tensors_) {
    AppendBytes(out, tensor.bytes);
    out.resize(Padded(out.size()));
  }
  return out;
}

Result<void> GgufWriter::WriteFile(const std::string& path) const {
  VIVACE_RETURN_IF_ERROR(Check());
  ReplacingFile file(path);
  file.Append(Header());
  const std::vector<std::byte> zeros(alignment_);
  for (const GgufTensor& tensor : tensors_) {
    file.Append(tensor.bytes);
    const std::uint64_t size = tensor.bytes.size();
    file.Append(std::span(zeros).first(Padded(size) - size));
  }
  return file.Finish();
}

}  // namespace vivace
