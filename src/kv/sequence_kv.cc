#include "kv/sequence_kv.h"

#include <algorithm>

#include "base/check.h"

namespace vivace {
namespace {

std::int64_t PagesFor(std::int64_t positions) {
  return (positions + kPagePositions - 1) / kPagePositions;
}

}  // namespace

Result<void> SequenceKv::Extend(std::int64_t count) {
  VIVACE_CHECK(size_ % kPagePositions == 0 || pool_->references(pages_.back()) == 1,
               "a shared page is never written");
  const std::int64_t wanted = PagesFor(size_ + count);
  const auto before = static_cast<std::int64_t>(pages_.size());
  while (static_cast<std::int64_t>(pages_.size()) < wanted) {
    auto page = pool_->Acquire();
    if (!page) {
      while (static_cast<std::int64_t>(pages_.size()) > before) {
        pool_->Release(pages_.back());
        pages_.pop_back();
      }
      return Failure(std::move(page).error());
    }
    pages_.push_back(*page);
  }
  size_ += count;
  return {};
}

void SequenceKv::AppendShared(std::uint16_t* page) {
  VIVACE_CHECK(size_ % kPagePositions == 0, "a page is appended after a full one");
  pool_->Share(page);
  pages_.push_back(page);
  size_ += kPagePositions;
}

Result<void> SequenceKv::AppendCopy(const std::uint16_t* page, std::int64_t count) {
  VIVACE_CHECK(size_ % kPagePositions == 0, "a page is appended after a full one");
  VIVACE_RETURN_IF_ERROR(Extend(count));
  std::copy_n(page, shape().page_size(), pages_.back());
  return {};
}

void SequenceKv::Replace(std::size_t index, std::uint16_t* page) {
  pool_->Share(page);
  pool_->Release(pages_[index]);
  pages_[index] = page;
}

void SequenceKv::Truncate(std::int64_t length) {
  VIVACE_CHECK(length >= 0 && length <= size_, "a sequence can only get shorter by truncation");
  const std::int64_t wanted = PagesFor(length);
  while (static_cast<std::int64_t>(pages_.size()) > wanted) {
    pool_->Release(pages_.back());
    pages_.pop_back();
  }
  size_ = length;
}

}  // namespace vivace
