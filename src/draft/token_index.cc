#include "draft/token_index.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace vivace {
namespace {

// Positions that one search looks at. Frequent runs have long chains, and what is far back
// in them is rarely better than what is near.
constexpr int kMostLooks = 16;

std::size_t PowerOfTwo(std::int64_t least) {
  return std::bit_ceil(static_cast<std::size_t>(std::max<std::int64_t>(least, 16)));
}

}  // namespace

TokenIndex::TokenIndex(std::int64_t capacity, int least)
    : least_(least),
      tokens_(PowerOfTwo(capacity), kBreak),
      heads_(tokens_.size(), -1),
      previous_(tokens_.size(), -1) {
  VIVACE_CHECK(least >= 1 && least <= kLongest, "a match has a length");
  newest_.reserve(static_cast<std::size_t>(kLongest));
}

void TokenIndex::Clear() {
  size_ = 0;
  newest_.clear();
  std::ranges::fill(heads_, -1);
}

std::size_t TokenIndex::Bucket(std::span<const TokenId> run) const {
  std::uint64_t hash = 0;
  for (const TokenId token : run.last(static_cast<std::size_t>(least_))) {
    hash = (hash + static_cast<std::uint32_t>(token)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash) & (heads_.size() - 1);
}

void TokenIndex::Append(TokenId token) {
  // Linked only now that a token follows: a match always predicts one.
  if (newest_.size() == static_cast<std::size_t>(least_) && token != kBreak) {
    const std::size_t bucket = Bucket(newest_);
    previous_[Slot(size_)] = heads_[bucket];
    heads_[bucket] = size_;
  }
  tokens_[Slot(size_++)] = token;
  if (token == kBreak) return newest_.clear();
  if (newest_.size() == static_cast<std::size_t>(least_)) newest_.erase(newest_.begin());
  newest_.push_back(token);
}

int TokenIndex::Common(std::span<const TokenId> context, std::int64_t position) const {
  const std::int64_t most = std::min(
      {static_cast<std::int64_t>(context.size()), position - oldest(), std::int64_t{kLongest}});
  std::int64_t length = 0;
  while (length < most && context[context.size() - 1 - static_cast<std::size_t>(length)] ==
                              tokens_[Slot(position - 1 - length)]) {
    ++length;
  }
  return static_cast<int>(length);
}

TokenIndex::Match TokenIndex::Find(std::span<const TokenId> context, std::int64_t likely) const {
  Match best;
  if (context.size() < static_cast<std::size_t>(least_)) return best;
  const auto look = [&](std::int64_t position) {
    const int length = Common(context, position);
    if (length >= least_ && length > best.length) best = {.next = position, .length = length};
  };
  std::int64_t position = heads_[Bucket(context)];
  for (int looks = 0; looks < kMostLooks && position > oldest(); ++looks) {
    look(position);
    if (best.length == kLongest) break;
    position = previous_[Slot(position)];
  }
  if (likely > oldest() && likely < size_ && at(likely) != kBreak) look(likely);
  return best;
}

}  // namespace vivace
