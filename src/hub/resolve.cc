#include "hub/resolve.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "hub/disk.h"
#include "hub/home.h"
#include "hub/store.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

// For so long the default's sources are not asked again once they could not be reached
// and the fallback is here: some networks let every connection hang.
constexpr std::chrono::hours kAskAgain(24);

bool IsRepository(const std::string& model) { return model.starts_with("hf:"); }

bool IsPath(const std::string& model) {
  return !IsRepository(model) && (model.find('/') != std::string::npos || model.ends_with(".gguf"));
}

Result<ResolvedModel> ResolvePath(const std::string& model) {
  std::error_code error;
  const std::string name = fs::path(model).filename().string();
  if (fs::is_regular_file(model, error)) return ResolvedModel{.name = name, .path = model};
  if (fs::is_directory(model, error)) {
    return Fail(ErrorKind::kBadInput, model + " is a folder, a .gguf file is expected");
  }
  if (IsPlainName(model) && fs::is_regular_file(ModelPath(model), error)) {
    return ResolvedModel{.name = name, .path = ModelPath(model)};
  }
  return Fail(ErrorKind::kNotFound, model + ": no such file");
}

std::string MarkerPath() { return ModelsFolder() + "/.default-unreachable"; }

bool WasUnreachable() {
  std::error_code error;
  const auto when = fs::last_write_time(MarkerPath(), error);
  if (error) return false;
  const auto age = fs::file_time_type::clock::now() - when;
  return age >= age.zero() && age < kAskAgain;
}

Result<ResolvedModel> PullEntry(const CatalogueEntry& entry, const PullEvents& events) {
  auto path = Pull(entry, events);
  if (!path) return Failure(std::move(path).error());
  return ResolvedModel{.name = entry.full_name(), .path = std::move(*path)};
}

Result<ResolvedModel> ResolveDefault(const PullEvents& events) {
  const auto preferred = EntryOf(std::string(kDefaultModel));
  if (!preferred) return Failure(preferred.error());
  const auto fallback = EntryOf(std::string(kFallbackModel));
  if (!fallback) return Failure(fallback.error());
  if (IsLocal(*preferred) || !WasUnreachable() || !IsLocal(*fallback)) {
    auto pulled = PullEntry(*preferred, events);
    if (pulled || pulled.error().kind != ErrorKind::kNotFound) return pulled;
    // Without the marker the sources are asked again next time, no more.
    (void)WriteFile(MarkerPath(), pulled.error().message + "\n");
  }
  events.say(fmt::format("{} cannot be fetched here, {} is used instead", preferred->full_name(),
                         fallback->full_name()));
  return PullEntry(*fallback, events);
}

}  // namespace

Result<CatalogueEntry> EntryOf(const std::string& model) {
  if (IsRepository(model)) return EntryOfRepository(model);
  const auto catalogue = LoadCatalogue();
  if (!catalogue) return Failure(catalogue.error());
  return FindEntry(*catalogue, model);
}

Result<std::string> FileOf(const std::string& model) {
  if (IsPlainName(model) && model.ends_with(".gguf")) return model;
  if (IsPath(model)) {
    return Fail(ErrorKind::kBadInput,
                model + " is a path, a name is expected: files elsewhere are not touched");
  }
  auto entry = EntryOf(model);
  if (!entry) return Failure(std::move(entry).error());
  return std::move(entry->file);
}

Result<ResolvedModel> Resolve(const std::string& model, const PullEvents& events) {
  if (model.empty()) return ResolveDefault(events);
  if (IsPath(model)) return ResolvePath(model);
  const auto entry = EntryOf(model);
  if (!entry) return Failure(entry.error());
  return PullEntry(*entry, events);
}

Result<ResolvedModel> ResolveLocal(const std::string& model) {
  if (IsPath(model)) return ResolvePath(model);
  const auto entry = EntryOf(model);
  if (!entry) return Failure(entry.error());
  if (IsLocal(*entry)) {
    return ResolvedModel{.name = entry->full_name(), .path = ModelPath(entry->file)};
  }
  return Fail(ErrorKind::kNotFound, fmt::format("{} is not here yet: vivace pull {}",
                                                entry->full_name(), entry->full_name()));
}

}  // namespace vivace
