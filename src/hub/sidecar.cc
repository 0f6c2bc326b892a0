#include "hub/sidecar.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "hub/disk.h"

namespace vivace {

std::string SidecarPath(const std::string& model_path) { return model_path + ".json"; }

std::optional<Sidecar> ReadSidecar(const std::string& model_path) {
  std::ifstream file(SidecarPath(model_path));
  const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  Sidecar sidecar;
  const std::pair<const char*, std::string*> fields[] = {
      {"name", &sidecar.name},
      {"source", &sidecar.source},
      {"sha256", &sidecar.sha256},
      {"checked_against", &sidecar.checked_against}};
  for (const auto& [key, value] : fields) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) return std::nullopt;
    *value = found->get<std::string>();
  }
  return sidecar;
}

Result<void> WriteSidecar(const std::string& model_path, const Sidecar& sidecar) {
  const nlohmann::ordered_json json = {{"name", sidecar.name},
                                       {"source", sidecar.source},
                                       {"sha256", sidecar.sha256},
                                       {"checked_against", sidecar.checked_against}};
  return WriteFile(SidecarPath(model_path), json.dump(1) + "\n");
}

}  // namespace vivace
