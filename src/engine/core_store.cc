// The part of EngineCore that counts pages and brings them from disk: a request is admitted when
// its pages can be promised to it, and gets what the disk has of its prompt before it starts.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/core.h"

namespace vivace {

// Pages that running sequences may still take, at most.
std::int64_t EngineCore::promised_pages() const {
  std::int64_t pages = 0;
  for (const Running& running : running_) {
    Sequence& sequence = *running.sequence;
    pages += sequence.pages_at_most() - running.fetch_pages -
             static_cast<std::int64_t>(sequence.kv().pages().size());
    if (!sequence.request().shift) continue;
    // A shift gives all pages up, and those that others use do not become free by that.
    pages += std::ranges::count_if(sequence.path().pages,
                                   [](const CachedPage* page) { return page->users > 1; });
  }
  return pages;
}

bool EngineCore::Fits(const GenerateRequest& request) const {
  const PrefixCache::Found found =
      request.wants_all_rows() ? PrefixCache::Found() : cache_.Look(request.prompt);
  // Pages that are shared with a sequence that may shift do not count: see promised_pages.
  const bool shifts = request.shift || std::ranges::any_of(running_, [](const Running& running) {
                        return running.sequence->request().shift;
                      });
  const std::int64_t needed =
      Sequence::PagesAtMost(request, options_.context) - (shifts ? found.idle_pages : found.pages);
  const std::int64_t available = pool_.available() + cache_.idle_pages() - found.idle_pages;
  return available >= promised_pages() + needed;
}

void EngineCore::Prepare(Running& running) {
  Sequence& sequence = *running.sequence;
  if (sequence.request().wants_all_rows()) return Start(running);
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
  if (!sequence.request().wants_all_rows()) {
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
    answers_.Clear();
    return cache_.Clear();
  }
  std::vector<PageName> names;
  const std::int64_t freed = cache_.Clear(cache_id, &names);
  courier_.Remove(std::move(names));
  return freed;
}

}  // namespace vivace
