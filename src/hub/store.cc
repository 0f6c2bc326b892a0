#include "hub/store.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "hub/disk.h"
#include "hub/file_lock.h"
#include "hub/home.h"
#include "hub/sidecar.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> FilesIn(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) files.push_back(at->path());
  }
  return files;
}

// A pack's name is the model's, a dash, the fingerprint's 32 digits and ".vpk".
bool IsPackOf(const std::string& pack, const std::string& stem) {
  constexpr std::size_t kDigits = 32;
  constexpr std::string_view kEnd = ".vpk";
  return pack.size() == stem.size() + 1 + kDigits + kEnd.size() && pack.starts_with(stem + "-") &&
         pack.ends_with(kEnd) &&
         pack.find_first_not_of("0123456789abcdef", stem.size() + 1) == stem.size() + 1 + kDigits;
}

}  // namespace

std::vector<LocalModel> ListModels() {
  std::vector<LocalModel> models;
  for (const fs::path& file : FilesIn(ModelsFolder())) {
    struct stat info = {};
    if (file.extension() != ".gguf" || stat(file.c_str(), &info) != 0) continue;
    LocalModel model;
    model.name = file.filename().string();
    model.path = file.string();
    model.size = static_cast<std::uint64_t>(info.st_size);
    model.modified = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(info.st_mtime));
    if (const auto sidecar = ReadSidecar(model.path)) {
      model.name = sidecar->name;
      model.source = sidecar->source;
      model.sha256 = sidecar->sha256;
      model.checked_against = sidecar->checked_against;
    }
    models.push_back(std::move(model));
  }
  std::sort(models.begin(), models.end(),
            [](const LocalModel& a, const LocalModel& b) { return a.name < b.name; });
  return models;
}

Result<void> RemoveModel(const std::string& file) {
  const std::string path = ModelPath(file);
  constexpr const char* kSuffixes[] = {"", ".part", ".packages.part"};
  const bool there =
      std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](const char* suffix) {
        std::error_code error;
        return fs::is_regular_file(path + suffix, error);
      });
  if (!there)
    return Fail(ErrorKind::kNotFound, fmt::format("{} is not in {}", file, ModelsFolder()));
  const auto lock = FileLock::TryAcquire(path + ".lock");
  if (!lock && lock.error().kind == ErrorKind::kExhausted) {
    return Fail(ErrorKind::kExhausted, fmt::format("{} is being fetched by another process", file));
  }
  if (!lock) return Failure(lock.error());
  // The model first: should this be stopped half-way, what remains is not taken for one.
  std::error_code error;
  fs::remove(path, error);
  if (error) return Fail(ErrorKind::kIo, path + ": " + error.message());
  const std::string stem = fs::path(file).stem().string();
  for (const fs::path& pack : FilesIn(PackedFolder())) {
    if (IsPackOf(pack.filename().string(), stem)) RemoveFile(pack.string());
  }
  for (const char* suffix : {".json", ".part", ".packages.part", ".packages.part.parts", ".lock"}) {
    RemoveFile(path + suffix);
  }
  return {};
}

}  // namespace vivace
