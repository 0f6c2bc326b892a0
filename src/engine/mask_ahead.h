// MaskAhead: computes the masks of constrained sequences while their step is evaluated.
//
// What may come next depends only on the tokens that a step begins with, so it can be found
// on another thread while the matrices are multiplied: for machines that have a core beyond
// those of the team. Used by the engine's thread. No mask depends on where it was computed.
#pragma once

#include <span>
#include <vector>

#include "engine/job_thread.h"
#include "engine/sequence.h"

namespace vivace {

class MaskAhead {
 public:
  // Starts on the masks of those sequences that need work. They must not be touched, but for
  // keys and values, and must stay until Finish. Precondition: all before are finished.
  void Start(std::span<Sequence* const> sequences);
  // Waits for what was started, if anything was.
  void Finish();

 private:
  std::vector<Sequence*> wanted_;  // empty: nothing runs
  JobThread thread_;
};

}  // namespace vivace
