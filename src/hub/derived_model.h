// Derived models: names that stand for another model with a Modelfile's settings.
//
// Each is a small file in the models folder. Names are plain, so none can lie elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/modelfile.h"

namespace vivace {

struct DerivedModel {
  std::string name;  // "mario:latest"
  std::string path;
  std::string modified;  // "2026-11-30T14:05:00Z"
  Modelfile modelfile;   // of which `from` is no derived model
};

// "name" or "name:tag" in the form in which it is kept: lower case, with ":latest" where it
// has no tag. kBadInput for names that are not plain or end in ".gguf".
Result<std::string> DerivedName(std::string_view name);

// By name; files that are no Modelfiles are left out.
std::vector<DerivedModel> ListDerived();
Result<DerivedModel> FindDerived(std::string_view name);

// Replaces what has the name. kBadInput for values that a Modelfile cannot hold.
Result<void> WriteDerived(std::string_view name, const Modelfile& modelfile);
Result<void> RemoveDerived(std::string_view name);

}  // namespace vivace
