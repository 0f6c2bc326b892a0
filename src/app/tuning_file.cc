#include "app/tuning_file.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/cpu.h"
#include "base/quota.h"
#include "hub/disk.h"
#include "hub/home.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

// Larger values are no measurement of ours.
constexpr std::int64_t kMostBytes = 1 << 16;
constexpr std::int64_t kMostThreads = 256;
constexpr std::int64_t kMostChunk = 4096;
constexpr double kMostStallMs = 60'000;

nlohmann::json Read() {
  std::ifstream file(TuningPath());
  auto json = nlohmann::json::parse(file, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

// Whole or not at all, whoever else writes it.
Result<void> Write(const nlohmann::json& json) {
  VIVACE_RETURN_IF_ERROR(MakeFolder(HomeFolder()));
  return WriteFile(TuningPath(),
                   json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
}

// The object of that name, made where it is not there.
nlohmann::json& ObjectIn(nlohmann::json& json, const char* name) {
  nlohmann::json& object = json[name];
  if (!object.is_object()) object = nlohmann::json::object();
  return object;
}

// A number within [least, most], or nothing.
std::optional<double> Number(const nlohmann::json& object, const char* name, double least,
                             double most) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const auto value = found->get<double>();
  if (!(value >= least && value <= most)) return std::nullopt;
  return value;
}

}  // namespace

std::string TuningPath() { return (fs::path(HomeFolder()) / "tuning.json").string(); }

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
  ObjectIn(json, "prefetch_bytes")[key] = bytes;
  (void)Write(json);
}

std::string MachineKey(const char* kernels) {
  return fmt::format("{}, {}, processors: {}, quota: {:g}", ReadCpuModel(), kernels,
                     AffinityCpus().size(), QuotaCores());
}

std::optional<TunedSettings> RememberedSettings(const std::string& key) {
  const nlohmann::json json = Read();
  const auto tuned = json.find("tuned");
  if (tuned == json.end() || !tuned->is_object()) return std::nullopt;
  const auto found = tuned->find(key);
  if (found == tuned->end() || !found->is_object()) return std::nullopt;
  const auto threads = Number(*found, "threads", 1, kMostThreads);
  const auto chunk = Number(*found, "prompt_chunk", 1, kMostChunk);
  const auto stall = Number(*found, "stall_budget_ms", 1, kMostStallMs);
  if (!threads || !chunk || !stall) return std::nullopt;
  return TunedSettings{.threads = static_cast<int>(*threads),
                       .prompt_chunk = static_cast<std::int64_t>(*chunk),
                       .stall_budget_ms = *stall};
}

Result<void> RememberSettings(const std::string& key, const TunedSettings& settings) {
  nlohmann::json json = Read();
  ObjectIn(json, "tuned")[key] = {{"threads", settings.threads},
                                  {"prompt_chunk", settings.prompt_chunk},
                                  {"stall_budget_ms", settings.stall_budget_ms}};
  return Write(json);
}

Result<bool> ForgetSettings(const std::string& key) {
  nlohmann::json json = Read();
  if (ObjectIn(json, "tuned").erase(key) == 0) return false;
  VIVACE_RETURN_IF_ERROR(Write(json));
  return true;
}

}  // namespace vivace
