#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "hub/disk.h"
#include "hub/file_lock.h"
#include "hub/home.h"
#include "hub/sha256.h"
#include "hub/sidecar.h"
#include "hub/store.h"

namespace vivace {
namespace {

// What the file must be, and who says so.
struct Expectation {
  Announced value;
  std::string from;
};

Expectation ExpectedOf(const CatalogueEntry& entry, const Announced& announced,
                       const std::string& path) {
  const std::uint64_t size = entry.size != 0 ? entry.size : announced.size;
  if (!entry.sha256.empty()) return {{size, entry.sha256}, "catalogue"};
  if (!announced.sha256.empty()) return {{size, announced.sha256}, "host"};
  // A model that was fetched before and lost its file: the same is expected again.
  const auto earlier = ReadSidecar(path);
  if (earlier && !earlier->sha256.empty()) return {{size, earlier->sha256}, "earlier download"};
  return {{size, ""}, "nothing"};
}

// The SHA-256 of a complete and correct partial file. A wrong one is removed.
Result<std::string> Verify(const Expectation& expected, const std::string& part,
                           const std::stop_token& stop) {
  const std::uint64_t size = FileSize(part);
  if (size == 0 || (expected.value.size != 0 && size != expected.value.size)) {
    RemoveFile(part);
    return Fail(ErrorKind::kIo,
                fmt::format("gave {} bytes, {} are expected", size, expected.value.size));
  }
  auto sha256 = Sha256OfFile(part, stop);
  if (!sha256 || expected.value.sha256.empty() || *sha256 == expected.value.sha256) return sha256;
  RemoveFile(part);
  return Fail(ErrorKind::kIo, fmt::format("gave a file whose SHA-256 is {}, expected {} ({})",
                                          *sha256, expected.value.sha256, expected.from));
}

// Fetches from one source and gives the file its name.
Result<void> PullFrom(const CatalogueEntry& entry, const Source& source, const Announced& announced,
                      const PullEvents& events) {
  const std::string path = ModelPath(entry.file);
  // Each kind of source continues only its own partial file.
  const std::string part = path + (source.url.empty() ? ".packages.part" : ".part");
  Expectation expected = ExpectedOf(entry, announced, path);
  if (source.url.empty()) {
    VIVACE_RETURN_IF_ERROR(DownloadPackages(source, part, expected.value.size, events));
  } else {
    const Announced first = {.size = expected.value.size, .sha256 = announced.sha256};
    const auto known = DownloadUrl(source.url, part, first, events);
    if (!known) return Failure(known.error());
    expected = ExpectedOf(entry, *known, path);
  }
  const auto sha256 = Verify(expected, part, events.stop);
  if (sha256 || sha256.error().kind != ErrorKind::kCancelled) RemoveFile(part + ".parts");
  if (!sha256) return Failure(sha256.error());
  VIVACE_RETURN_IF_ERROR(WriteSidecar(path, {.name = entry.full_name(),
                                             .source = source.label,
                                             .sha256 = *sha256,
                                             .checked_against = expected.from}));
  return PublishFile(part, path);
}

Result<void> PullFromAny(const CatalogueEntry& entry, const PullEvents& events) {
  const auto probes = ProbeSources(entry.sources, events.stop);
  ErrorKind kind = ErrorKind::kNotFound;
  std::string reasons;
  for (std::size_t i = 0; i < entry.sources.size(); ++i) {
    const Source& source = entry.sources[i];
    if (events.stop.stop_requested()) return Fail(ErrorKind::kCancelled, "interrupted");
    Error error = {ErrorKind::kNotFound, probes[i].problem};
    if (probes[i].reached) {
      events.say(fmt::format("fetching {} from {}", entry.file, source.label));
      const auto pulled = PullFrom(entry, source, probes[i].announced, events);
      if (pulled || pulled.error().kind == ErrorKind::kCancelled) return pulled;
      error = pulled.error();
    }
    // No other source helps against a full disk.
    if (error.kind == ErrorKind::kExhausted) return Context(error, entry.full_name());
    if (error.kind != ErrorKind::kNotFound) kind = error.kind;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : "; ", source.label, error.message);
  }
  return Fail(kind, fmt::format("{} could not be fetched: {}", entry.full_name(), reasons));
}

}  // namespace

std::string ModelPath(const std::string& file) { return ModelsFolder() + "/" + file; }

bool IsLocal(const CatalogueEntry& entry) {
  std::error_code error;
  return std::filesystem::is_regular_file(ModelPath(entry.file), error);
}

Result<std::string> Pull(const CatalogueEntry& entry, const PullEvents& events) {
  std::string path = ModelPath(entry.file);
  if (IsLocal(entry)) return path;
  VIVACE_RETURN_IF_ERROR(MakeFolder(ModelsFolder()));
  const std::string lock_path = path + ".lock";
  const auto lock = FileLock::Acquire(
      lock_path,
      [&] { events.say(fmt::format("waiting for another process that fetches {}", entry.file)); },
      events.stop);
  if (!lock) return Failure(lock.error());
  Result<void> pulled;
  if (!IsLocal(entry)) pulled = PullFromAny(entry, events);
  RemoveFile(lock_path);
  if (!pulled) return Failure(pulled.error());
  return path;
}

}  // namespace vivace
