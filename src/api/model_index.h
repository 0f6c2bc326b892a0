// ModelIndex: every model that a request can name, with what its file says about it.
//
// Descriptions of files are read once and kept while the file stays the same. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/model_pool.h"
#include "hub/derived_model.h"
#include "hub/model_facts.h"

namespace vivace {

struct IndexedModel {
  std::string name;
  std::string key;  // in the pool: the name, or the model that a derived one starts from
  std::string path;
  std::uint64_t size = 0;
  std::string modified;  // "2026-11-30T14:05:00Z"
  std::string sha256;    // of the model's file or of the Modelfile; "" where nobody knows it
  std::shared_ptr<const ModelFacts> facts;
  std::optional<DerivedModel> derived;
};

class ModelIndex {
 public:
  // Served models first, then those of the models folder, then derived ones.
  std::vector<IndexedModel> List(ModelPool& pool);
  // By any name that the pool knows, or a derived model's. kNotFound.
  Result<IndexedModel> Find(ModelPool& pool, const std::string& name);

 private:
  struct Known {
    std::uint64_t size;
    std::string modified;
    std::shared_ptr<const ModelFacts> facts;
  };

  std::shared_ptr<const ModelFacts> FactsOfFile(const IndexedModel& model);
  std::vector<IndexedModel> ListFiles(ModelPool& pool);

  std::mutex mutex_;
  std::map<std::string, Known> known_;  // by path
};

}  // namespace vivace
