// Loads a model file: maps its pack if there is one, else packs it, once.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/thread_team.h"
#include "model/model.h"

namespace vivace {

struct LoadOptions {
  std::string packed_folder;  // where pack files live; "" packs in memory
  // Share done of packing and of writing the pack, 0 to 1; not called when a pack is mapped.
  std::function<void(double)> progress = [](double) {};
  // A line for the person who waits: why no pack file could be written.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

struct LoadedModel {
  Model model;
  bool packed_now = false;  // false: mapped from an earlier run's file
};

// `path` is a .gguf file; the pack is named by the file's fingerprint, so a changed
// file gets a new pack. A damaged or outdated pack is replaced. Several processes may
// load at once: each writes a temporary file and renames it into place.
Result<LoadedModel> LoadModel(const std::string& path, const KernelTable& kernels, ThreadTeam& team,
                              const LoadOptions& options);

}  // namespace vivace
