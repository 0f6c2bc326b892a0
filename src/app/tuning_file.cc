#include "app/tuning_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hub/home.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

// A larger distance is no measurement of ours.
constexpr std::int64_t kMostBytes = 1 << 16;

std::string Path() { return (fs::path(HomeFolder()) / "tuning.json").string(); }

nlohmann::json Read() {
  std::ifstream file(Path());
  auto json = nlohmann::json::parse(file, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

}  // namespace

std::string TuningKey(const std::string& cpu_model, const char* kernels, int threads) {
  return fmt::format("{}, {}, threads: {}", cpu_model, kernels, threads);
}

std::optional<std::int64_t> RememberedPrefetch(const std::string& key) {
  const nlohmann::json json = Read();
  const auto distances = json.find("prefetch_bytes");
  if (distances == json.end() || !distances->is_object()) return std::nullopt;
  const auto found = distances->find(key);
  if (found == distances->end() || !found->is_number_unsigned()) return std::nullopt;
  const auto bytes = found->get<std::uint64_t>();
  if (bytes > kMostBytes) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

PrefetchTuning RememberedTuning(const std::string& key) {
  const auto known = RememberedPrefetch(key);
  return known ? PrefetchTuning(*known) : PrefetchTuning();
}

void RememberPrefetch(const std::string& key, std::int64_t bytes) {
  nlohmann::json json = Read();
  nlohmann::json& distances = json["prefetch_bytes"];
  if (!distances.is_object()) distances = nlohmann::json::object();
  distances[key] = bytes;
  // Whole or not at all, whoever else writes it.
  const std::string temporary = fmt::format("{}.{}.tmp", Path(), getpid());
  std::error_code error;
  fs::create_directories(HomeFolder(), error);
  {
    std::ofstream file(temporary);
    file << json.dump(2) << '\n';
    if (!file.good()) return;
  }
  fs::rename(temporary, Path(), error);
  if (error) fs::remove(temporary, error);
}

}  // namespace vivace
