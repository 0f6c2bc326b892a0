#include "sampling/repetition.h"

#include <algorithm>

namespace vivace {

std::span<const Repetition> RepetitionFinder::Find(std::span<const TokenId> text,
                                                   std::span<const TokenId> breakers) {
  found_.clear();
  const auto size = static_cast<std::int32_t>(text.size());
  // Reversed: the end of the text is its beginning.
  const auto at = [&](std::int32_t i) { return text[static_cast<std::size_t>(size - 1 - i)]; };
  std::int32_t most = 0;
  while (most < size && !std::ranges::binary_search(breakers, at(most))) ++most;
  if (most == 0) return found_;
  // common_[i]: how long the texts from 0 and from i agree (Gusfield's Z algorithm), where
  // [left, right) is the stretch that reaches farthest.
  common_.assign(text.size(), 0);
  std::int32_t left = 0;
  std::int32_t right = 0;
  for (std::int32_t i = 1; i < size; ++i) {
    std::int32_t length =
        i < right ? std::min(right - i, common_[static_cast<std::size_t>(i - left)]) : 0;
    while (i + length < size && at(length) == at(i + length)) ++length;
    common_[static_cast<std::size_t>(i)] = length;
    if (i + length > right) {
      left = i;
      right = i + length;
    }
    length = std::min(length, most);
    if (length > 0) found_.push_back({.next = at(i - 1), .length = length});
  }
  // The longest of each token.
  std::ranges::sort(found_, [](const Repetition& a, const Repetition& b) {
    return a.next != b.next ? a.next < b.next : a.length > b.length;
  });
  const auto same_next = [](const Repetition& a, const Repetition& b) { return a.next == b.next; };
  found_.erase(std::unique(found_.begin(), found_.end(), same_next), found_.end());
  return found_;
}

}  // namespace vivace
