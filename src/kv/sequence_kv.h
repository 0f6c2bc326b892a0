// SequenceKv: the keys and values of one conversation, as a list of pages.
//
// Pages go back to the pool with the object. Not thread-safe in its structure:
// the engine's thread grows and truncates it between steps; within a step the
// team's threads write disjoint parts of the pages it already has.
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
  Result<void> Extend(std::int64_t count);

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
