#include "api/model_index.h"

#include <algorithm>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "gguf/gguf_file.h"
#include "hub/sha256.h"
#include "hub/store.h"

namespace vivace {
namespace {

// The derived model by what it starts from.
IndexedModel Derive(DerivedModel derived, const IndexedModel& base) {
  IndexedModel model = base;
  model.name = derived.name;
  model.modified = derived.modified;
  model.sha256 = Sha256OfFile(derived.path).value_or("");
  model.derived = std::move(derived);
  return model;
}

}  // namespace

std::shared_ptr<const ModelFacts> ModelIndex::FactsOfFile(const IndexedModel& model) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(model.path);
    if (found != known_.end() && found->second.size == model.size &&
        found->second.modified == model.modified) {
      return found->second.facts;
    }
  }
  // A file that is gone or damaged has an empty description.
  auto facts = std::make_shared<ModelFacts>();
  if (const auto file = GgufFile::Open(model.path)) *facts = FactsOf(*file);
  const std::lock_guard lock(mutex_);
  known_.insert_or_assign(model.path,
                          Known{.size = model.size, .modified = model.modified, .facts = facts});
  return facts;
}

std::vector<IndexedModel> ModelIndex::ListFiles(ModelPool& pool) {
  std::vector<IndexedModel> models;
  const std::vector<LocalModel> local = ListModels();
  for (const ModelPool::Loaded& loaded : pool.List()) {
    const ServedModel& model = *loaded.model;
    IndexedModel indexed;
    indexed.name = model.name();
    indexed.key = model.name();
    indexed.path = model.path();
    indexed.size = model.file_bytes();
    indexed.modified =
        fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                    fmt::gmtime(std::chrono::system_clock::to_time_t(model.modified())));
    const auto file = std::ranges::find(local, model.path(), &LocalModel::path);
    if (file != local.end()) indexed.sha256 = file->sha256;
    models.push_back(std::move(indexed));
  }
  for (const LocalModel& file : local) {
    if (std::ranges::find(models, file.name, &IndexedModel::name) != models.end()) continue;
    models.push_back({.name = file.name,
                      .key = file.name,
                      .path = file.path,
                      .size = file.size,
                      .modified = file.modified,
                      .sha256 = file.sha256,
                      .facts = nullptr,
                      .derived = {}});
  }
  return models;
}

std::vector<IndexedModel> ModelIndex::List(ModelPool& pool) {
  std::vector<IndexedModel> models = ListFiles(pool);
  for (IndexedModel& model : models) model.facts = FactsOfFile(model);
  const std::size_t files = models.size();
  for (DerivedModel& derived : ListDerived()) {
    const auto key = pool.KeyOf(derived.modelfile.from);
    if (!key) continue;  // what it starts from was removed
    const auto end = models.begin() + static_cast<std::ptrdiff_t>(files);
    const auto base = std::ranges::find(models.begin(), end, *key, &IndexedModel::key);
    if (base != end) models.push_back(Derive(std::move(derived), *base));
  }
  return models;
}

Result<IndexedModel> ModelIndex::Find(ModelPool& pool, const std::string& name) {
  auto key = pool.KeyOf(name);
  std::optional<DerivedModel> derived;
  if (!key) {
    auto found = FindDerived(name);
    if (!found) return Failure(key.error());
    derived = std::move(*found);
    key = pool.KeyOf(derived->modelfile.from);
    if (!key) return Context(key.error(), derived->name);
  }
  for (IndexedModel& model : ListFiles(pool)) {
    if (model.key != *key) continue;
    model.facts = FactsOfFile(model);
    return derived ? Derive(std::move(*derived), model) : std::move(model);
  }
  return Fail(ErrorKind::kNotFound, fmt::format("model '{}' not found", name.substr(0, 100)));
}

}  // namespace vivace
