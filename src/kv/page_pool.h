// PagePool: the memory that holds keys and values, in pages of 16 positions.
//
// A page holds all layers of its positions, as float16:
//   [layer][kv_head] { keys [dim][16 positions], values [16 positions][dim] }
// Keys are transposed so that lanes are positions and scores need no horizontal
// sums. Address space is reserved at once and used as pages are first written. Pages
// are counted references: several sequences and the prefix cache can hold the same one,
// which then nobody writes. Not thread-safe: the thread that runs the engine owns it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "base/result.h"

namespace vivace {

inline constexpr std::int64_t kPagePositions = 16;

struct PageShape {
  std::int64_t layers;
  std::int64_t kv_heads;
  std::int64_t dim;

  std::size_t page_bytes() const {
    return static_cast<std::size_t>(page_size()) * sizeof(std::uint16_t);
  }
  // In halves (2 bytes).
  std::int64_t head_size() const { return 2 * dim * kPagePositions; }
  std::int64_t page_size() const { return layers * kv_heads * head_size(); }
  std::int64_t key_offset(std::int64_t layer, std::int64_t head) const {
    return (layer * kv_heads + head) * head_size();
  }
  std::int64_t value_offset(std::int64_t layer, std::int64_t head) const {
    return key_offset(layer, head) + dim * kPagePositions;
  }
};

class PagePool {
 public:
  // kExhausted when the address space for `pages` pages cannot be had.
  static Result<PagePool> Create(const PageShape& shape, std::int64_t pages);

  const PageShape& shape() const { return shape_; }
  std::int64_t capacity() const { return capacity_; }
  std::int64_t available() const { return static_cast<std::int64_t>(free_.size()); }

  // A page with one reference, the caller's. kExhausted when all are in use.
  Result<std::uint16_t*> Acquire();
  // One reference more.
  void Share(std::uint16_t* page) { ++references_[IndexOf(page)]; }
  // One reference less; with the last one the page is free.
  void Release(std::uint16_t* page);
  std::int32_t references(const std::uint16_t* page) const { return references_[IndexOf(page)]; }

 private:
  PagePool(const PageShape& shape, std::int64_t pages, Buffer memory);
  std::size_t IndexOf(const std::uint16_t* page) const {
    return static_cast<std::size_t>((page - first_) / shape_.page_size());
  }

  PageShape shape_;
  std::int64_t capacity_;
  Buffer memory_;
  std::uint16_t* first_;
  std::vector<std::uint16_t*> free_;      // the next one to hand out is last
  std::vector<std::int32_t> references_;  // [capacity]
};

}  // namespace vivace
