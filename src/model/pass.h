// Pass: what the phases of one forward pass share. Lives for one Forward call.
#pragma once

#include <cstdint>

#include "base/thread_team.h"
#include "model/batch.h"
#include "model/model.h"
#include "model/workspace.h"

namespace vivace {

struct Pass {
  const Model& model;
  const Batch& batch;
  Workspace& space;

  const Config& config() const { return model.config(); }
  const KernelTable& kernels() const { return model.kernels(); }
  std::int64_t rows() const { return static_cast<std::int64_t>(batch.tokens.size()); }
  // Phases over few rows consist of short pieces, which waiting threads may do again.
  PhaseShape Pieces(std::int64_t count, std::int64_t chunk) const {
    return {.count = count, .chunk = chunk, .redo = rows() <= Workspace::kRedundantRows};
  }
  ThreadSpace& thread(const TeamMember& member) const {
    return space.threads[static_cast<std::size_t>(member.index())];
  }
};

}  // namespace vivace
