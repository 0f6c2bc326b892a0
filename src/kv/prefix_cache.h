// PrefixCache: the pages of finished and running sequences, found again by their tokens.
//
// A tree: every page follows its parent. Full pages are found by name and compared; a
// sequence also leaves its last, partly filled page, whose beginning others can copy.
// Pages that a running sequence uses stay. The others go, least recently used first and
// leaves before their parents, those of a labelled conversation last of all. Not
// thread-safe: the engine's thread owns it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kv/page_name.h"
#include "kv/page_pool.h"
#include "kv/sequence_kv.h"

namespace vivace {

struct CachedPage {
  PageName name;  // of a full page
  CachedPage* parent = nullptr;
  std::vector<CachedPage*> children;
  std::array<TokenId, static_cast<std::size_t>(kPagePositions)> tokens = {};
  std::int64_t count = 0;  // of tokens; fewer than 16 in a sequence's last page
  std::uint16_t* page = nullptr;
  std::int64_t users = 0;                 // running sequences whose path leads through it
  std::int64_t labels = 0;                // labelled conversations whose path leads through it
  std::list<CachedPage>* home = nullptr;  // the list that holds it
  std::list<CachedPage>::iterator self;   // in home

  bool full() const { return count == kPagePositions; }
};

// The cached pages that a running sequence uses, from the first one on. Only the cache
// changes it; a sequence must Leave before it goes.
struct CachePath {
  std::vector<CachedPage*> pages;
  bool closed = false;    // another page has the next one's name: the rest stays private
  std::size_t saved = 0;  // of pages, that were handed on to be written to disk
};

class PrefixCache {
 public:
  using Namer = std::function<PageName(const PageName& parent, PageTokens tokens)>;

  // `pool` must outlive this object; what it holds goes back. Tests replace the namer.
  PrefixCache(PagePool& pool, const PageName& root, Namer namer = &NameOfPage);
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;
  ~PrefixCache() { Clear(); }

  // What Match would find for these tokens.
  struct Found {
    std::int64_t pages = 0;
    std::int64_t idle_pages = 0;  // of those, that no running sequence uses yet
  };
  Found Look(std::span<const TokenId> tokens) const;

  // Appends to `kv` and `path` the full pages that are here and continue the sequence by
  // `tokens`, its tokens from the first on. At least one token is left to evaluate.
  // Nothing happens while the sequence has an open or a private page.
  void Match(std::span<const TokenId> tokens, CachePath& path, SequenceKv& kv);
  // After Match: opens a page with a copy of the beginning of a page that is here, if one
  // continues the sequence by a token or more. May evict another page for it.
  void MatchPart(std::span<const TokenId> tokens, const CachePath& path, SequenceKv& kv);

  // Takes in the full pages that the sequence has computed since. Where a page is here
  // already, the sequence uses that one from now on.
  void Insert(std::span<const TokenId> tokens, CachePath& path, SequenceKv& kv);

  // The sequence ends: takes in all its pages and lets go of its path. With a label, the
  // conversation of that name now ends here.
  void Leave(std::span<const TokenId> tokens, CachePath& path, SequenceKv& kv,
             std::string_view label);

  // Keeps a path's pages, from the first on, as if another sequence used them, until LetGo.
  void Hold(std::span<CachedPage* const> pages);
  void LetGo(std::span<CachedPage* const> pages);

  // Frees the page that was not used for the longest time. False if all are in use.
  bool EvictOne();
  // Evicts until the pool has `count` free pages. False if it cannot have that many.
  bool MakeRoom(std::int64_t count);
  // Pages that EvictOne could free.
  std::int64_t idle_pages() const {
    return static_cast<std::int64_t>(idle_.size() + labelled_.size());
  }
  // Since the start, to make room.
  std::int64_t evicted_pages() const { return evicted_; }
  std::int64_t pages() const { return idle_pages() + static_cast<std::int64_t>(busy_.size()); }

  struct Conversation {
    std::string label;
    std::int64_t tokens = 0;
    std::int64_t pages = 0;
    double left_ms = 0;  // NowMs when it was last left
  };
  std::vector<Conversation> List() const;

  // Forgets a conversation and those of its pages that no other path uses; all of them
  // and all labels. Returns the pages freed, and appends the names of full ones to `names`.
  // Pages in use stay.
  std::int64_t Clear(std::string_view label, std::vector<PageName>* names = nullptr);
  std::int64_t Clear();

 private:
  struct Label {
    CachedPage* last;
    double left_ms;
  };
  using Labels = std::map<std::string, Label, std::less<>>;

  CachedPage& EndOf(const CachePath& path) {
    return path.pages.empty() ? root_ : *path.pages.back();
  }
  CachedPage* Find(const CachedPage& parent, const PageName& name, PageTokens tokens) const;
  CachedPage* Next(const CachedPage& parent, std::span<const TokenId> tokens,
                   std::size_t page) const;
  CachedPage* Add(CachedPage& parent, std::span<const TokenId> tokens, std::uint16_t* page);
  CachedPage* LeaveTail(std::span<const TokenId> tokens, CachedPage& parent, const SequenceKv& kv);
  void DropCovered(CachedPage& parent, const CachedPage& by);
  void Use(CachedPage& page);
  // Moves to where pages like this one wait for eviction, as the most recently used.
  void Settle(CachedPage& page);
  static void MoveTo(std::list<CachedPage>& list, CachedPage& page);
  void Remove(CachedPage& page);
  void ShortenLabels(const CachedPage& page);
  void SetLabel(std::string_view label, CachedPage* last);
  void Forget(Labels::iterator label);

  PagePool& pool_;
  Namer namer_;
  CachedPage root_;
  std::unordered_map<PageName, CachedPage*, PageNameHash> by_name_;  // the full pages
  // In order of last use. A page comes before its parent: paths are left from the end on.
  std::list<CachedPage> idle_;
  std::list<CachedPage> labelled_;
  std::list<CachedPage> busy_;
  Labels labels_;
  std::int64_t evicted_ = 0;
};

}  // namespace vivace
