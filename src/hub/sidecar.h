// The sidecar: a small JSON file beside each fetched model that says where it came from
// and how its hash was checked.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace vivace {

struct Sidecar {
  std::string name;  // as MODEL on the command line
  std::string source;
  std::string sha256;
  // What the hash was compared with: "catalogue", "host" (what it announced), "earlier
  // download" or "nothing" (only recorded, so that a later download can be compared).
  std::string checked_against;
};

// "model.gguf" -> "model.gguf.json"
std::string SidecarPath(const std::string& model_path);

// Nothing where there is none or it is not in the expected form.
std::optional<Sidecar> ReadSidecar(const std::string& model_path);
Result<void> WriteSidecar(const std::string& model_path, const Sidecar& sidecar);

}  // namespace vivace
