// SequenceKv: the keys and values of one conversation, as a list of pages.
//
// Full pages may be shared with other sequences and the prefix cache and are never
// written again; the open page at the end is this sequence's own. Pages are let go with
// the object. Not thread-safe in its structure: the engine's thread changes it between
// steps; within a step the team's threads write disjoint parts of its own pages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kv/page_pool.h"

namespace vivace {

class SequenceKv {
 public:
  // `pool` must outlive this object.
  explicit SequenceKv(PagePool& pool) : pool_(&pool) {}
  SequenceKv(const SequenceKv&) = delete;
  SequenceKv& operator=(const SequenceKv&) = delete;
  ~SequenceKv() { Truncate(0); }

  // Makes the sequence `count` positions longer. On kExhausted nothing has changed.
  // Precondition: the open page, if there is one, is not shared.
  Result<void> Extend(std::int64_t count);

  // Appends the 16 positions of a page that others hold too.
  // Precondition: there is no open page.
  void AppendShared(std::uint16_t* page);
  // Opens a page with the first `count` positions of `page`, 1 to 15 of them, copied.
  // On kExhausted nothing has changed. Precondition: there is no open page.
  Result<void> AppendCopy(const std::uint16_t* page, std::int64_t count);
  // Lets go of the full page number `index` and holds `page` instead, which says the same.
  void Replace(std::size_t index, std::uint16_t* page);

  // Forgets all positions from `length` on. Precondition: length <= size().
  void Truncate(std::int64_t length);

  std::int64_t size() const { return size_; }  // positions
  const PageShape& shape() const { return pool_->shape(); }

  // In position order; the last may be partly filled.
  std::span<std::uint16_t* const> pages() const { return pages_; }

 private:
  PagePool* pool_;
  std::vector<std::uint16_t*> pages_;
  std::int64_t size_ = 0;
};

}  // namespace vivace
