// The models folder: what is there, how a model gets in, and how it gets out.
//
// Processes that fetch or remove the same model take turns. A file has its final name
// only when it is complete and its hash was right, so whatever is there can be used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "hub/catalogue.h"
#include "hub/download.h"

namespace vivace {

struct LocalModel {
  std::string name;  // what MODEL may be on the command line
  std::string path;
  std::uint64_t size = 0;
  std::string modified;         // "2026-11-30T14:05:00Z"
  std::string source;           // "" where no sidecar says so, like the next two
  std::string sha256;           // of the file as it was fetched
  std::string checked_against;  // see hub/sidecar.h
};

// By name.
std::vector<LocalModel> ListModels();

// Where a file of the models folder is or would be. Precondition: a plain name.
std::string ModelPath(const std::string& file);
bool IsLocal(const CatalogueEntry& entry);

// The path of the entry's file; downloads it if it is missing, from the first source
// that serves it. What is there of a broken download is continued. kNotFound when no
// source gives it, kCancelled with the partial file kept.
Result<std::string> Pull(const CatalogueEntry& entry, const PullEvents& events);

// Removes a file of the models folder, a part of it that a broken download left, what is
// kept beside it and the packs made from it. Precondition: a plain name that ends in
// .gguf. kNotFound if nothing is there, kExhausted while it is being fetched.
Result<void> RemoveModel(const std::string& file);

}  // namespace vivace
