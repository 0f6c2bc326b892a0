#include "kv/page_pool.h"

#include <string>
#include <utility>

namespace vivace {

Result<PagePool> PagePool::Create(const PageShape& shape, std::int64_t pages) {
  auto memory =
      Buffer::Allocate(static_cast<std::size_t>(pages) * shape.page_bytes(), HugePages::kNo);
  if (!memory) {
    return Context(std::move(memory).error(), std::to_string(pages) + " pages of keys and values");
  }
  return PagePool(shape, pages, std::move(*memory));
}

PagePool::PagePool(const PageShape& shape, std::int64_t pages, Buffer memory)
    : shape_(shape),
      capacity_(pages),
      memory_(std::move(memory)),
      first_(memory_.As<std::uint16_t>().data()),
      references_(static_cast<std::size_t>(pages)) {
  free_.reserve(static_cast<std::size_t>(pages));
  for (std::int64_t page = pages - 1; page >= 0; --page) {
    free_.push_back(first_ + page * shape_.page_size());
  }
}

Result<std::uint16_t*> PagePool::Acquire() {
  if (free_.empty()) {
    return Fail(ErrorKind::kExhausted,
                "all " + std::to_string(capacity_) + " pages of keys and values are in use");
  }
  std::uint16_t* page = free_.back();
  free_.pop_back();
  references_[IndexOf(page)] = 1;
  return page;
}

void PagePool::Release(std::uint16_t* page) {
  if (--references_[IndexOf(page)] == 0) free_.push_back(page);
}

}  // namespace vivace
