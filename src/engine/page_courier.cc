#include "engine/page_courier.h"

#include <algorithm>
#include <utility>

#include "kv/sequence_kv.h"

namespace vivace {
namespace {

constexpr std::size_t kLeastPages = 4;      // shorter paths are computed as fast
constexpr std::size_t kProgressPages = 64;  // between two saves of a prompt in evaluation
constexpr std::size_t kMostSaves = 64;      // that wait at once
constexpr double kFlushMs = 2000;

}  // namespace

PageCourier::PageCourier(const PageStoreOptions& options, const PageFileKind& kind, PagePool& pool,
                         PrefixCache& cache, EngineMetrics& metrics)
    : pool_(pool), cache_(cache), metrics_(metrics) {
  if (!options.enabled()) return;
  store_ = std::make_unique<PageStore>(options, kind);
  reader_.Post([this] { store_->Look(); });
}

PageCourier::~PageCourier() {
  stopping_ = true;
  Flush(kFlushMs);
  DropSaves();
}

std::shared_ptr<const PageFetch> PageCourier::Fetch(std::span<const TokenId> prompt,
                                                    std::size_t first, bool& own) {
  own = false;
  constexpr auto kPage = static_cast<std::size_t>(kPagePositions);
  // One token is left to evaluate.
  const std::size_t end =
      std::min((prompt.size() - 1) / kPage, static_cast<std::size_t>(kMaxPathPages));
  if (store_ == nullptr || first >= end) return nullptr;
  for (const auto& fetch : fetches_) {
    const auto begin = static_cast<std::size_t>(fetch->first);
    if (fetch->stale || begin > first || begin + fetch->pages.size() <= first) continue;
    const auto next = prompt.first((first + 1) * kPage);
    if (std::ranges::equal(std::span(fetch->tokens).first(next.size()), next)) return fetch;
  }
  const std::size_t count = end - first;
  if (!cache_.MakeRoom(static_cast<std::int64_t>(count))) return nullptr;
  auto fetch = std::make_shared<PageFetch>();
  fetch->tokens.assign(prompt.begin(), prompt.end());
  fetch->first = static_cast<std::int64_t>(first);
  while (fetch->pages.size() < count) fetch->pages.push_back(*pool_.Acquire());
  own = true;
  fetches_.push_back(fetch);
  reader_.Post([this, fetch] {
    fetch->read = store_->Read(fetch->tokens, fetch->first, fetch->pages, stopping_);
    Announce();
  });
  return fetch;
}

void PageCourier::Save(CachePath& path) {
  path.saved = path.pages.size();
  if (store_ == nullptr || path.pages.size() < kLeastPages) return;
  const auto count = static_cast<std::int64_t>(path.pages.size());
  // A single one may be as long as it likes.
  if (saves_.size() >= kMostSaves) return;
  if (!saves_.empty() && held_pages_ + count > pool_.capacity() / 2) return;
  auto save = std::make_shared<PageSave>();
  save->held = path.pages;
  for (const CachedPage* page : save->held) {
    save->pages.push_back({.name = page->name, .tokens = page->tokens, .page = page->page});
  }
  cache_.Hold(save->held);
  held_pages_ += count;
  saves_.push_back(save);
  writer_.Post([this, save] { Write(*save); });
}

void PageCourier::SaveProgress(CachePath& path) {
  if (path.pages.size() >= path.saved + kProgressPages) Save(path);
}

void PageCourier::Write(PageSave& save) {
  auto queued = PageSave::State::kQueued;
  if (!save.state.compare_exchange_strong(queued, PageSave::State::kWriting)) return;
  save.written = store_->Write(save.pages, save.dropped);
  save.state = PageSave::State::kDone;
  Announce();
}

void PageCourier::Announce() {
  {
    const std::lock_guard lock(mutex_);
    news_ = true;
  }
  announced_.notify_all();
  if (wake_) wake_();
}

void PageCourier::DropSaves() {
  if (saves_.empty()) return;
  for (const auto& save : saves_) {
    save->dropped = true;
    auto queued = PageSave::State::kQueued;
    save->state.compare_exchange_strong(queued, PageSave::State::kDropped);
  }
  LetGoOfWritten();
}

void PageCourier::Collect() {
  if (!news_.load(std::memory_order_acquire) || !news_.exchange(false)) return;
  std::erase_if(fetches_, [this](const std::shared_ptr<PageFetch>& fetch) {
    if (fetch->read < 0) return false;
    Adopt(*fetch);
    return true;
  });
  LetGoOfWritten();
}

void PageCourier::LetGoOfWritten() {
  std::erase_if(saves_, [this](const std::shared_ptr<PageSave>& save) {
    const PageSave::State state = save->state;
    if (state != PageSave::State::kDone && state != PageSave::State::kDropped) return false;
    cache_.LetGo(save->held);
    held_pages_ -= static_cast<std::int64_t>(save->held.size());
    metrics_.pages_written.Add(save->written);
    return true;
  });
}

// Puts the pages that have come into the cache, as a short-lived sequence with these
// tokens would: where pages are missing before them or are here already, they are dropped.
void PageCourier::Adopt(PageFetch& fetch) {
  const std::int64_t came = fetch.stale ? 0 : fetch.read.load();
  CachePath path;
  SequenceKv kv(pool_);
  cache_.Match(fetch.tokens, path, kv);
  const auto here = static_cast<std::int64_t>(path.pages.size());
  if (here >= fetch.first) {
    for (std::int64_t page = here - fetch.first; page < came; ++page) {
      kv.AppendShared(fetch.pages[static_cast<std::size_t>(page)]);
    }
  }
  cache_.Leave(fetch.tokens, path, kv, "");
  for (std::size_t page = fetch.pages.size(); page-- > 0;) pool_.Release(fetch.pages[page]);
  metrics_.pages_read.Add(came);
  fetch.arrived = true;
}

void PageCourier::Wait() {
  std::unique_lock lock(mutex_);
  announced_.wait(lock, [this] { return news_.load(); });
}

void PageCourier::Flush(double ms) {
  if (saves_.empty()) return;
  writer_.Drain(ms);
  LetGoOfWritten();
}

void PageCourier::Clear() {
  if (store_ == nullptr) return;
  for (const auto& fetch : fetches_) fetch->stale = true;
  store_->Clear();
}

void PageCourier::Remove(std::vector<PageName> names) {
  if (store_ == nullptr || names.empty()) return;
  for (const auto& fetch : fetches_) fetch->stale = true;
  std::ranges::sort(names);
  store_->Remove(names);
}

void PageCourier::UpdateGauges() {
  if (store_ == nullptr) return;
  metrics_.disk_pages.Set(store_->pages());
  metrics_.disk_bytes.Set(store_->bytes());
}

}  // namespace vivace
