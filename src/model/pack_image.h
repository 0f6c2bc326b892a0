// PackImage: a model in the form the engine uses, as one block of bytes.
//
// Either a mapped file of $VIVACE_HOME/packed, shared by all processes, or, where
// none can be written, anonymous memory with the same contents. The layout is
// described in docs/pack-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/buffer.h"
#include "base/mapped_file.h"
#include "base/result.h"

namespace vivace {

inline constexpr std::uint32_t kPackVersion = 3;

// What tells one source file from another without reading all of it.
struct Fingerprint {
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t sample[2] = {};  // XXH3-128 of the first and last MiB and samples between

  bool operator==(const Fingerprint&) const = default;
  std::string Hex() const;  // 32 digits over all fields: the pack file's name
};

Result<Fingerprint> FingerprintOf(const std::string& path);

enum class PackSection : std::uint32_t { kMeta, kTokenizer, kTemplate, kTensors, kEmbedding };
inline constexpr std::size_t kPackSections = 5;

struct PackSectionEntry {
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t checksum;  // XXH3-64
};

// The first bytes of the image. All numbers little-endian.
struct PackHeader {
  char magic[8];  // "VIVACEPK"
  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t total_size;
  Fingerprint source;
  PackSectionEntry sections[kPackSections];
  std::uint64_t checksum;  // XXH3-64 of all bytes before this field
};
inline constexpr char kPackMagic[9] = "VIVACEPK";

class PackImage {
 public:
  PackImage() = default;
  explicit PackImage(MappedFile file) : file_(std::move(file)) {}
  explicit PackImage(Buffer memory) : memory_(std::move(memory)), in_memory_(true) {}

  bool is_file() const { return !in_memory_; }
  std::span<const std::byte> bytes() const {
    return in_memory_ ? std::span<const std::byte>(memory_.data(), memory_.size()) : file_.bytes();
  }

 private:
  MappedFile file_;
  Buffer memory_;
  bool in_memory_ = false;
};

// Checks magic, version, size and checksums of the header and of all sections but the
// two large ones, whose checksums VerifyPack reads.
Result<PackHeader> OpenPack(std::span<const std::byte> bytes);
std::span<const std::byte> Section(std::span<const std::byte> bytes, const PackHeader& header,
                                   PackSection section);

// Reads all of the image: about 50 ms for 500 MB in the page cache.
Result<void> VerifyPack(std::span<const std::byte> bytes);

}  // namespace vivace
