// Packs a GGUF model into a PackImage's bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/result.h"
#include "base/thread_team.h"
#include "model/pack_image.h"
#include "model/pack_meta.h"

namespace vivace {

class GgufFile;

// What to write where: made once from the file's description, before any packing.
struct PackPlan {
  PackMeta meta;
  PackHeader header;  // without checksums
  std::string meta_json;
  std::vector<std::byte> tokenizer;  // tables of tokenizer/tables.h
  std::string chat_template;
};

// All errors a bad model file can cause come from here.
Result<PackPlan> PlanPack(const GgufFile& file, const Fingerprint& source);

// Fills `image`, plan.header.total_size zeroed bytes, using all of `team`.
// `progress` is called with the share done, 0 to 1, from the calling thread.
void WritePack(const GgufFile& file, PackPlan& plan, std::span<std::byte> image, ThreadTeam& team,
               const std::function<void(double)>& progress);

}  // namespace vivace
