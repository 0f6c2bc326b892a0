#include "kv/prefix_cache.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace vivace {
namespace {

// Labels are a client's to choose; the one left first goes where there are more.
constexpr std::size_t kMaxLabels = 4096;

constexpr std::size_t Size(std::int64_t value) { return static_cast<std::size_t>(value); }

PageTokens TokensOfPage(std::span<const TokenId> tokens, std::size_t page) {
  return tokens.subspan(page * Size(kPagePositions)).first<Size(kPagePositions)>();
}

std::int64_t CommonStart(std::span<const TokenId> a, std::span<const TokenId> b) {
  const std::size_t limit = std::min(a.size(), b.size());
  std::size_t common = 0;
  while (common < limit && a[common] == b[common]) ++common;
  return static_cast<std::int64_t>(common);
}

std::span<const TokenId> TokensOf(const CachedPage& page) {
  return std::span(page.tokens).first(Size(page.count));
}

}  // namespace

PrefixCache::PrefixCache(PagePool& pool, const PageName& root, Namer namer)
    : pool_(pool), namer_(std::move(namer)) {
  root_.name = root;
}

CachedPage* PrefixCache::Find(const CachedPage& parent, const PageName& name,
                              PageTokens tokens) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  CachedPage* page = found->second;
  const bool same = page->parent == &parent && std::ranges::equal(page->tokens, tokens);
  return same ? page : nullptr;
}

// The full page number `page` of a sequence that must evaluate at least one token itself.
CachedPage* PrefixCache::Next(const CachedPage& parent, std::span<const TokenId> tokens,
                              std::size_t page) const {
  if ((page + 1) * Size(kPagePositions) >= tokens.size()) return nullptr;
  const PageTokens wanted = TokensOfPage(tokens, page);
  return Find(parent, namer_(parent.name, wanted), wanted);
}

PrefixCache::Found PrefixCache::Look(std::span<const TokenId> tokens) const {
  Found found;
  const CachedPage* parent = &root_;
  while (const CachedPage* page = Next(*parent, tokens, Size(found.pages))) {
    ++found.pages;
    if (page->users == 0) ++found.idle_pages;
    parent = page;
  }
  return found;
}

void PrefixCache::Match(std::span<const TokenId> tokens, CachePath& path, SequenceKv& kv) {
  if (path.closed || kv.size() != static_cast<std::int64_t>(path.pages.size()) * kPagePositions) {
    return;
  }
  while (CachedPage* page = Next(EndOf(path), tokens, path.pages.size())) {
    Use(*page);
    path.pages.push_back(page);
    kv.AppendShared(page->page);
  }
}

void PrefixCache::MatchPart(std::span<const TokenId> tokens, const CachePath& path,
                            SequenceKv& kv) {
  if (kv.size() != static_cast<std::int64_t>(path.pages.size()) * kPagePositions) return;
  const std::span<const TokenId> rest =
      tokens.subspan(Size(kv.size())).first(tokens.size() - Size(kv.size()) - 1);
  CachedPage* best = nullptr;
  std::int64_t count = 0;
  for (CachedPage* child : EndOf(path).children) {
    const std::int64_t common = CommonStart(TokensOf(*child), rest);
    if (common > count) {
      best = child;
      count = common;
    }
  }
  if (best == nullptr) return;
  Use(*best);  // or it might be the one that makes room
  if (MakeRoom(1)) {
    const auto copied = kv.AppendCopy(best->page, std::min(count, kPagePositions - 1));
    VIVACE_CHECK(copied.has_value(), "there is a free page");
  }
  --best->users;
  Settle(*best);
}

void PrefixCache::Insert(std::span<const TokenId> tokens, CachePath& path, SequenceKv& kv) {
  while (!path.closed &&
         (static_cast<std::int64_t>(path.pages.size()) + 1) * kPagePositions <= kv.size()) {
    const std::size_t index = path.pages.size();
    const PageTokens next = TokensOfPage(tokens, index);
    CachedPage& parent = EndOf(path);
    const PageName name = namer_(parent.name, next);
    CachedPage* page = Find(parent, name, next);
    if (page != nullptr) {
      kv.Replace(index, page->page);
    } else if (by_name_.contains(name)) {
      path.closed = true;
      return;
    } else {
      page = Add(parent, next, kv.pages()[index]);
      page->name = name;
      by_name_.emplace(name, page);
      DropCovered(parent, *page);
    }
    Use(*page);
    path.pages.push_back(page);
  }
}

CachedPage* PrefixCache::Add(CachedPage& parent, std::span<const TokenId> tokens,
                             std::uint16_t* page) {
  pool_.Share(page);
  CachedPage& added = idle_.emplace_back();
  added.parent = &parent;
  std::copy(tokens.begin(), tokens.end(), added.tokens.begin());
  added.count = static_cast<std::int64_t>(tokens.size());
  added.page = page;
  added.self = std::prev(idle_.end());
  added.home = &idle_;
  parent.children.push_back(&added);
  return &added;
}

// The beginnings of `by` that nobody needs beside it.
void PrefixCache::DropCovered(CachedPage& parent, const CachedPage& by) {
  const std::vector<CachedPage*> siblings = parent.children;
  for (CachedPage* child : siblings) {
    const bool free = child->users == 0 && child->labels == 0 && !child->full();
    if (child == &by || !free) continue;
    if (CommonStart(TokensOf(*child), TokensOf(by)) == child->count) Remove(*child);
  }
}

// The open page of a sequence that ends, or a page that says as much; null without one.
CachedPage* PrefixCache::LeaveTail(std::span<const TokenId> tokens, CachedPage& parent,
                                   const SequenceKv& kv) {
  const std::int64_t count = kv.size() % kPagePositions;
  if (count == 0) return nullptr;
  const auto tail = tokens.subspan(Size(kv.size() - count), Size(count));
  for (CachedPage* child : parent.children) {
    if (CommonStart(TokensOf(*child), tail) < count) continue;
    Settle(*child);
    return child;
  }
  CachedPage* page = Add(parent, tail, kv.pages().back());
  DropCovered(parent, *page);
  return page;
}

void PrefixCache::Leave(std::span<const TokenId> tokens, CachePath& path, SequenceKv& kv,
                        std::string_view label) {
  Insert(tokens, path, kv);
  CachedPage* tail = path.closed ? nullptr : LeaveTail(tokens, EndOf(path), kv);
  CachedPage& last = tail != nullptr ? *tail : EndOf(path);
  if (!label.empty() && &last != &root_) SetLabel(label, &last);
  LetGo(path.pages);
  path.pages.clear();
  kv.Truncate(0);
}

void PrefixCache::Hold(std::span<CachedPage* const> pages) {
  for (CachedPage* page : pages) Use(*page);
}

void PrefixCache::LetGo(std::span<CachedPage* const> pages) {
  for (std::size_t i = pages.size(); i-- > 0;) {
    --pages[i]->users;
    Settle(*pages[i]);
  }
}

void PrefixCache::MoveTo(std::list<CachedPage>& list, CachedPage& page) {
  list.splice(list.end(), *page.home, page.self);
  page.home = &list;
}

void PrefixCache::Use(CachedPage& page) {
  if (page.users == 0) MoveTo(busy_, page);
  ++page.users;
}

void PrefixCache::Settle(CachedPage& page) {
  if (page.users == 0) MoveTo(page.labels > 0 ? labelled_ : idle_, page);
}

void PrefixCache::Remove(CachedPage& page) {
  VIVACE_CHECK(page.users == 0 && page.children.empty(), "only an idle leaf is removed");
  std::erase(page.parent->children, &page);
  if (page.full()) by_name_.erase(page.name);
  pool_.Release(page.page);
  page.home->erase(page.self);
}

bool PrefixCache::EvictOne() {
  std::list<CachedPage>& list = idle_.empty() ? labelled_ : idle_;
  if (list.empty()) return false;
  CachedPage& page = list.front();
  if (page.labels > 0) ShortenLabels(page);
  Remove(page);
  return true;
}

bool PrefixCache::MakeRoom(std::int64_t count) {
  while (pool_.available() < count) {
    if (!EvictOne()) return false;
    ++evicted_;
  }
  return true;
}

// The conversations that end with `page`, a leaf, end before it.
void PrefixCache::ShortenLabels(const CachedPage& page) {
  for (auto label = labels_.begin(); label != labels_.end();) {
    const auto next = std::next(label);
    if (label->second.last == &page) {
      label->second.last = page.parent;
      if (page.parent == &root_) labels_.erase(label);
    }
    label = next;
  }
}

void PrefixCache::SetLabel(std::string_view label, CachedPage* last) {
  // The new path first: pages on both never lose their label.
  for (CachedPage* page = last; page != &root_; page = page->parent) {
    if (++page->labels == 1) Settle(*page);
  }
  const auto old = labels_.find(label);
  if (old != labels_.end()) Forget(old);
  if (labels_.size() == kMaxLabels) {
    Forget(std::ranges::min_element(
        labels_, {}, [](const Labels::value_type& entry) { return entry.second.left_ms; }));
  }
  labels_.emplace(label, Label{.last = last, .left_ms = NowMs()});
}

void PrefixCache::Forget(Labels::iterator label) {
  for (CachedPage* page = label->second.last; page != &root_; page = page->parent) {
    if (--page->labels == 0) Settle(*page);
  }
  labels_.erase(label);
}

std::vector<PrefixCache::Conversation> PrefixCache::List() const {
  std::vector<Conversation> conversations;
  for (const auto& [name, label] : labels_) {
    Conversation entry = {.label = name, .left_ms = label.left_ms};
    for (const CachedPage* page = label.last; page != &root_; page = page->parent) {
      entry.tokens += page->count;
      ++entry.pages;
    }
    conversations.push_back(std::move(entry));
  }
  return conversations;
}

std::int64_t PrefixCache::Clear(std::string_view label, std::vector<PageName>* names) {
  const auto found = labels_.find(label);
  if (found == labels_.end()) return 0;
  CachedPage* page = found->second.last;
  Forget(found);
  std::int64_t freed = 0;
  while (page != &root_ && page->users == 0 && page->labels == 0 && page->children.empty()) {
    CachedPage* parent = page->parent;
    if (names != nullptr && page->full()) names->push_back(page->name);
    Remove(*page);
    page = parent;
    ++freed;
  }
  return freed;
}

std::int64_t PrefixCache::Clear() {
  while (!labels_.empty()) Forget(labels_.begin());
  std::int64_t freed = 0;
  while (EvictOne()) ++freed;
  return freed;
}

}  // namespace vivace
