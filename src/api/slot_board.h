// SlotBoard: what runs on a model right now, for people who look.
//
// A slot is a place among the requests that run at once; a request takes the lowest free
// one. The engine's thread writes, any thread reads and waits for nobody's step. A slot
// that is free shows what ran there last.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "chat/json_input.h"
#include "engine/request.h"

namespace vivace {

class SlotBoard {
 public:
  struct View {
    std::int64_t id = 0;
    bool busy = false;
    std::int64_t task = -1;  // counts up; -1: none has been here
    std::shared_ptr<const Json> settings;
    std::int64_t max_tokens = -1;
    std::int64_t prompt_tokens = 0;
    std::int64_t evaluated_tokens = 0;  // of the prompt, with the cached ones
    std::int64_t cached_tokens = 0;
    std::int64_t decoded_tokens = 0;
    bool has_line_break = false;
  };

  explicit SlotBoard(std::size_t count) : slots_(count) {}

  // The slot's number, or -1 where all are taken: such a request is not shown. The other
  // functions ignore -1.
  std::int64_t Take(std::shared_ptr<const Json> settings, std::int64_t max_tokens);
  void Update(std::int64_t id, const GenerateTimings& timings, std::int64_t evaluated);
  void NoteLineBreak(std::int64_t id);
  void Leave(std::int64_t id);

  std::vector<View> List() const;
  std::size_t size() const { return slots_.size(); }

 private:
  struct Slot {
    bool busy = false;  // under mutex_, as the next three
    std::int64_t task = -1;
    std::shared_ptr<const Json> settings;
    std::int64_t max_tokens = -1;
    std::atomic<std::int64_t> prompt_tokens{0};
    std::atomic<std::int64_t> evaluated_tokens{0};
    std::atomic<std::int64_t> cached_tokens{0};
    std::atomic<std::int64_t> decoded_tokens{0};
    std::atomic<bool> has_line_break{false};
  };

  mutable std::mutex mutex_;
  std::deque<Slot> slots_;
  std::int64_t tasks_ = 0;
};

}  // namespace vivace
