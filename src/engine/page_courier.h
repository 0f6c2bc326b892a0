// PageCourier: carries pages between the engine's memory and the disk store.
//
// Reading and writing happen on two threads of its own; everything here is called by the
// engine's thread and waits for neither, but where it says so. Full pages never change, so
// the writer takes them from where they lie: they stay in use until then. Without a folder
// nothing here does anything.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/token_id.h"
#include "engine/job_thread.h"
#include "engine/metrics.h"
#include "kv/page_pool.h"
#include "kv/page_store.h"
#include "kv/prefix_cache.h"

namespace vivace {

// Pages of a prompt on their way from disk. Several requests may wait for the same.
struct PageFetch {
  std::vector<TokenId> tokens;          // of the whole prompt
  std::int64_t first = 0;               // number of the first page that is wanted
  std::vector<std::uint16_t*> pages;    // the reader's until it is done
  std::atomic<std::int64_t> read = -1;  // pages that came; the reader's last word
  // The engine's:
  bool arrived = false;  // what came is in the cache
  bool stale = false;    // the store was cleared meanwhile
};

class PageCourier {
 public:
  // `pool`, `cache` and `metrics` must outlive this object.
  PageCourier(const PageStoreOptions& options, const PageFileKind& kind, PagePool& pool,
              PrefixCache& cache, EngineMetrics& metrics);
  PageCourier(const PageCourier&) = delete;
  PageCourier& operator=(const PageCourier&) = delete;
  // Waits up to two seconds for what is still to be written.
  ~PageCourier();

  // Called from the other threads whenever Collect has something to do. Before anything else.
  void SetWake(std::function<void()> wake) { wake_ = std::move(wake); }
  bool has_wake() const { return wake_ != nullptr; }

  // Starts to read the full pages of a prompt from number `first` on, into pages for which it
  // makes room in the cache: as many as the prompt would take anyway. Null where there is nothing
  // to read. One that another request has started already is joined: then `own` is false.
  std::shared_ptr<const PageFetch> Fetch(std::span<const TokenId> prompt, std::size_t first,
                                         bool& own);

  // Starts to write those of a path's pages that are not on disk yet, unless it is short or
  // too much waits already.
  void Save(CachePath& path);
  // The same while a long prompt is evaluated, now and then.
  void SaveProgress(CachePath& path);
  // Gives up what waits to be written: its pages are free for others at once, those of the
  // file in work soon.
  void DropSaves();

  // Takes in what has come and lets go of what was written.
  void Collect();
  // Whether anything is on its way.
  bool pending() const { return !fetches_.empty() || !saves_.empty(); }
  // Waits until Collect has something to do. Precondition: pending().
  void Wait();
  // Waits until all is written, but at most so long.
  void Flush(double ms);

  // Removes from disk all pages, or the files between pages with these names. What is being
  // read now does not arrive. Both wait for the disk.
  void Clear();
  void Remove(std::vector<PageName> names);
  void UpdateGauges();

 private:
  // A path whose pages are held until they are on disk.
  struct PageSave {
    enum class State : std::uint8_t { kQueued, kWriting, kDone, kDropped };
    std::vector<CachedPage*> held;
    std::vector<PageToStore> pages;
    std::int64_t written = 0;  // the writer's until kDone
    std::atomic<bool> dropped = false;
    std::atomic<State> state = State::kQueued;
  };

  void Write(PageSave& save);
  void Announce();
  // Only Collect takes in what has come: promises of pages depend on the moment.
  void LetGoOfWritten();
  void Adopt(PageFetch& fetch);

  std::unique_ptr<PageStore> store_;  // null without a folder
  PagePool& pool_;
  PrefixCache& cache_;
  EngineMetrics& metrics_;
  std::function<void()> wake_;
  std::vector<std::shared_ptr<PageFetch>> fetches_;
  std::vector<std::shared_ptr<PageSave>> saves_;
  std::int64_t held_pages_ = 0;  // by saves_, a page once for each
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> news_ = false;  // spares the engine the lists
  std::mutex mutex_;
  std::condition_variable announced_;
  JobThread reader_;  // last: they use what is above
  JobThread writer_;
};

}  // namespace vivace
