#include "api/model_names.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "hub/catalogue.h"
#include "hub/store.h"

namespace vivace {

bool NamesModel(std::string_view name, std::string_view key) {
  constexpr std::string_view kLatest = ":latest";
  constexpr std::string_view kSuffix = ".gguf";
  if (name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  if (EqualsIgnoreCase(name, key)) return true;
  if (key.ends_with(kSuffix)) {
    return EqualsIgnoreCase(name, key.substr(0, key.size() - kSuffix.size()));
  }
  return EqualsIgnoreCase(name, key.substr(0, key.find(':')));
}

Result<std::string> FindLocalModel(const std::string& name) {
  const std::string plain = name.substr(0, name.rfind(":latest"));
  const auto catalogue = LoadCatalogue();
  const auto entry = catalogue ? FindEntry(*catalogue, plain) : Failure(catalogue.error());
  if (entry && IsLocal(*entry)) return entry->full_name();
  for (const LocalModel& model : ListModels()) {
    if (NamesModel(name, model.name)) return model.name;
  }
  return Fail(ErrorKind::kNotFound, fmt::format("model '{}' not found", name.substr(0, 100)));
}

}  // namespace vivace
