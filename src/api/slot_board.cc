#include "api/slot_board.h"

#include <utility>

namespace vivace {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

std::int64_t SlotBoard::Take(std::shared_ptr<const Json> settings, std::int64_t max_tokens) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.busy) continue;
    slot.busy = true;
    slot.task = tasks_++;
    slot.settings = std::move(settings);
    slot.max_tokens = max_tokens;
    slot.has_line_break.store(false, kRelaxed);
    return static_cast<std::int64_t>(i);
  }
  return -1;
}

void SlotBoard::Update(std::int64_t id, const GenerateTimings& timings, std::int64_t evaluated) {
  if (id < 0) return;
  Slot& slot = slots_[static_cast<std::size_t>(id)];
  slot.prompt_tokens.store(timings.prompt_tokens, kRelaxed);
  slot.cached_tokens.store(timings.cached_tokens, kRelaxed);
  slot.evaluated_tokens.store(evaluated, kRelaxed);
  slot.decoded_tokens.store(timings.decoded_tokens, kRelaxed);
}

void SlotBoard::NoteLineBreak(std::int64_t id) {
  if (id >= 0) slots_[static_cast<std::size_t>(id)].has_line_break.store(true, kRelaxed);
}

void SlotBoard::Leave(std::int64_t id) {
  if (id < 0) return;
  const std::lock_guard lock(mutex_);
  slots_[static_cast<std::size_t>(id)].busy = false;
}

std::vector<SlotBoard::View> SlotBoard::List() const {
  const std::lock_guard lock(mutex_);
  std::vector<View> views;
  views.reserve(slots_.size());
  for (const Slot& slot : slots_) {
    views.push_back({.id = static_cast<std::int64_t>(views.size()),
                     .busy = slot.busy,
                     .task = slot.task,
                     .settings = slot.settings,
                     .max_tokens = slot.max_tokens,
                     .prompt_tokens = slot.prompt_tokens.load(kRelaxed),
                     .evaluated_tokens = slot.evaluated_tokens.load(kRelaxed),
                     .cached_tokens = slot.cached_tokens.load(kRelaxed),
                     .decoded_tokens = slot.decoded_tokens.load(kRelaxed),
                     .has_line_break = slot.has_line_break.load(kRelaxed)});
  }
  return views;
}

}  // namespace vivace
