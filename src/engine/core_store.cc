// The part of EngineCore that has to do with pages on disk: a request that was admitted gets
// what the disk has of its prompt before it starts.
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/core.h"

namespace vivace {

void EngineCore::Prepare(Running& running) {
  Sequence& sequence = *running.sequence;
  if (sequence.request().embed) return Start(running);
  cache_.Match(sequence.tokens(), sequence.path(), sequence.kv());
  bool own = false;
  running.fetch = courier_.Fetch(sequence.tokens(), sequence.path().pages.size(), own);
  running.fetch_pages = own ? static_cast<std::int64_t>(running.fetch->pages.size()) : 0;
  if (running.fetch == nullptr) Start(running);
}

void EngineCore::TakeFetched() {
  courier_.Collect();
  for (Running& running : running_) {
    if (running.fetch == nullptr || !running.fetch->arrived) continue;
    // What came for another request may be a part of what this one wants.
    const bool own = running.fetch_pages > 0;
    running.fetch = nullptr;
    running.fetch_pages = 0;
    own ? Start(running) : Prepare(running);
  }
}

void EngineCore::Start(Running& running) {
  Sequence& sequence = *running.sequence;
  // An embedding is made of all states of its prompt.
  if (!sequence.request().embed) {
    cache_.Match(sequence.tokens(), sequence.path(), sequence.kv());
    cache_.MatchPart(sequence.tokens(), sequence.path(), sequence.kv());
  }
  sequence.timings().cached_tokens = sequence.kv().size();
  sequence.timings().cache_ms = NowMs() - running.start_ms;
  sequence.Admitted(running.start_ms);
  running.turn = PrefillTurn(metrics_.prompt_tokens.value(), sequence.remaining());
}

std::int64_t EngineCore::ClearCache(const std::string& cache_id) {
  constexpr double kFlushMs = 2000;
  // Pages that are being written count as in use.
  courier_.DropSaves();
  courier_.Flush(kFlushMs);
  if (cache_id.empty()) {
    courier_.Clear();
    return cache_.Clear();
  }
  std::vector<PageName> names;
  const std::int64_t freed = cache_.Clear(cache_id, &names);
  courier_.Remove(std::move(names));
  return freed;
}

}  // namespace vivace
