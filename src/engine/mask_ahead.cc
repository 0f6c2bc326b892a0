#include "engine/mask_ahead.h"

namespace vivace {

void MaskAhead::Start(std::span<Sequence* const> sequences) {
  for (Sequence* sequence : sequences) {
    if (sequence->MaskTakesWork()) wanted_.push_back(sequence);
  }
  if (wanted_.empty()) return;
  thread_.Post([this] {
    for (Sequence* sequence : wanted_) sequence->Mask();
  });
}

void MaskAhead::Finish() {
  if (wanted_.empty()) return;
  thread_.Wait();
  wanted_.clear();
}

}  // namespace vivace
