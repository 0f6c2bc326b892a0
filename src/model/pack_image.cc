#include "model/pack_image.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

namespace vivace {
namespace {

constexpr std::size_t kEdge = std::size_t{1} << 20;
constexpr std::size_t kSample = 4096;
constexpr std::size_t kSamples = 64;

std::uint64_t Checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

bool IsLarge(PackSection section) {
  return section == PackSection::kTensors || section == PackSection::kEmbedding;
}

Result<void> CheckSection(std::span<const std::byte> bytes, const PackHeader& header,
                          std::size_t index) {
  if (Checksum(Section(bytes, header, static_cast<PackSection>(index))) ==
      header.sections[index].checksum) {
    return {};
  }
  return Fail(ErrorKind::kBadInput, fmt::format("section {} has a wrong checksum", index));
}

}  // namespace

std::string Fingerprint::Hex() const {
  const XXH128_hash_t hash = XXH3_128bits(this, sizeof(*this));
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Result<Fingerprint> FingerprintOf(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    const int code = errno;
    return Fail(code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo,
                path + ": " + std::generic_category().message(code));
  }
  const auto file = MappedFile::Open(path);
  if (!file) return Failure(file.error());
  const std::span<const std::byte> bytes = file->bytes();
  std::vector<std::byte> sampled;
  const auto take = [&](std::size_t at, std::size_t size) {
    const auto part = bytes.subspan(std::min(at, bytes.size()));
    sampled.insert(sampled.end(), part.begin(),
                   part.begin() + static_cast<std::ptrdiff_t>(std::min(size, part.size())));
  };
  take(0, kEdge);
  for (std::size_t i = 1; i < kSamples; ++i) take(bytes.size() / kSamples * i, kSample);
  take(bytes.size() - std::min(bytes.size(), kEdge), kEdge);
  const XXH128_hash_t hash = XXH3_128bits(sampled.data(), sampled.size());
  return Fingerprint{.size = bytes.size(),
                     .mtime_ns = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec,
                     .sample = {hash.low64, hash.high64}};
}

std::span<const std::byte> Section(std::span<const std::byte> bytes, const PackHeader& header,
                                   PackSection section) {
  const PackSectionEntry& entry = header.sections[static_cast<std::size_t>(section)];
  return bytes.subspan(entry.offset, entry.size);
}

Result<PackHeader> OpenPack(std::span<const std::byte> bytes) {
  PackHeader header = {};
  if (bytes.size() < sizeof(header)) {
    return Fail(ErrorKind::kBadInput, fmt::format("{} bytes are too few for a header of {}",
                                                  bytes.size(), sizeof(header)));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kPackMagic, sizeof(header.magic)) != 0) {
    return Fail(ErrorKind::kBadInput, "not a pack file");
  }
  if (header.version != kPackVersion) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("pack version is {}, allowed is {}", header.version, kPackVersion));
  }
  if (header.checksum != Checksum(bytes.first(offsetof(PackHeader, checksum)))) {
    return Fail(ErrorKind::kBadInput, "the header has a wrong checksum");
  }
  if (header.total_size != bytes.size()) {
    return Fail(ErrorKind::kBadInput, fmt::format("the file has {} bytes, its header says {}",
                                                  bytes.size(), header.total_size));
  }
  for (std::size_t i = 0; i < kPackSections; ++i) {
    const PackSectionEntry& entry = header.sections[i];
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) {
      return Fail(ErrorKind::kBadInput, fmt::format("section {} lies outside the file", i));
    }
    if (IsLarge(static_cast<PackSection>(i))) continue;
    VIVACE_RETURN_IF_ERROR(CheckSection(bytes, header, i));
  }
  return header;
}

Result<void> VerifyPack(std::span<const std::byte> bytes) {
  const auto header = OpenPack(bytes);
  if (!header) return Failure(header.error());
  for (std::size_t i = 0; i < kPackSections; ++i) {
    VIVACE_RETURN_IF_ERROR(CheckSection(bytes, *header, i));
  }
  return {};
}

}  // namespace vivace
