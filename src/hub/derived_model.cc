#include "hub/derived_model.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "hub/catalogue.h"
#include "hub/disk.h"
#include "hub/home.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".modelfile";
// Stands for ':', which file names cannot have everywhere and plain names never have.
constexpr char kTagSign = '@';
constexpr std::size_t kLongestName = 100;

Failure NoSuchModel(std::string_view name) {
  return Fail(ErrorKind::kNotFound, fmt::format("model '{}' not found", name.substr(0, 100)));
}

std::string PathOf(std::string name) {
  std::ranges::replace(name, ':', kTagSign);
  return fmt::format("{}/{}{}", ModelsFolder(), name, kSuffix);
}

std::optional<DerivedModel> Read(const std::string& name) {
  DerivedModel model = {.name = name, .path = PathOf(name), .modified = {}, .modelfile = {}};
  struct stat info = {};
  std::ifstream file(model.path, std::ios::binary);
  if (!file || stat(model.path.c_str(), &info) != 0) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto modelfile = ParseModelfile(text);
  if (!modelfile) return std::nullopt;
  model.modified = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(info.st_mtime));
  model.modelfile = std::move(*modelfile);
  return model;
}

}  // namespace

Result<std::string> DerivedName(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view tag = colon == std::string_view::npos ? "latest" : name.substr(colon + 1);
  const std::string_view stem = name.substr(0, colon);
  if (name.size() > kLongestName || !IsPlainName(stem) || !IsPlainName(tag) ||
      name.ends_with(".gguf") || stem == "default") {
    return Fail(ErrorKind::kBadInput,
                fmt::format("the name \"{}\" cannot be given, allowed is name or name:tag of up to "
                            "{} letters, digits, '-', '_' and '.'",
                            name.substr(0, kLongestName), kLongestName));
  }
  std::string full = fmt::format("{}:{}", stem, tag);
  std::ranges::transform(full, full.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return full;
}

std::vector<DerivedModel> ListDerived() {
  std::vector<DerivedModel> models;
  std::error_code error;
  for (fs::directory_iterator at(ModelsFolder(), error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!name.ends_with(kSuffix)) continue;
    name.resize(name.size() - kSuffix.size());
    std::ranges::replace(name, kTagSign, ':');
    if (auto model = Read(name)) models.push_back(std::move(*model));
  }
  std::ranges::sort(models, {}, &DerivedModel::name);
  return models;
}

Result<DerivedModel> FindDerived(std::string_view name) {
  const auto full = DerivedName(name);
  if (!full) return NoSuchModel(name);
  auto model = Read(*full);
  if (!model) return NoSuchModel(name);
  return std::move(*model);
}

Result<void> WriteDerived(std::string_view name, const Modelfile& modelfile) {
  const auto full = DerivedName(name);
  if (!full) return Failure(full.error());
  const std::string text = WriteModelfile(modelfile);
  const auto again = ParseModelfile(text);
  if (!again || *again != modelfile) {
    return Fail(ErrorKind::kBadInput,
                "a value holds what a Modelfile cannot, such as \"\"\" beside a line break");
  }
  VIVACE_RETURN_IF_ERROR(MakeFolder(ModelsFolder()));
  // Threads of one process would share WriteFile's temporary file.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  return WriteFile(PathOf(*full), text);
}

Result<void> RemoveDerived(std::string_view name) {
  const auto full = DerivedName(name);
  std::error_code error;
  if (!full || !fs::remove(PathOf(*full), error)) return NoSuchModel(name);
  return {};
}

}  // namespace vivace
