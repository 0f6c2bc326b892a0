#include "tokenizer/merger.h"

#include <algorithm>
#include <array>

namespace vivace {
namespace {

// Up to here scanning beats the heap (measured: they meet at about 60 symbols).
constexpr std::size_t kShort = 48;
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

}  // namespace

void Merger::Merge(std::vector<TokenId>& tokens, std::size_t begin) {
  const std::size_t count = tokens.size() - begin;
  if (count < 2) return;
  if (count <= kShort) {
    MergeShort(tokens, begin);
  } else {
    MergeLong(tokens, begin);
  }
}

void Merger::MergeShort(std::vector<TokenId>& tokens, std::size_t begin) const {
  TokenId* const ids = tokens.data() + begin;
  std::size_t count = tokens.size() - begin;
  std::array<TableView::Merge, kShort> merges;  // [i]: of ids[i] and ids[i + 1]
  for (std::size_t i = 0; i + 1 < count; ++i) merges[i] = tables_.FindMerge(ids[i], ids[i + 1]);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (merges[i].rank < merges[best].rank) best = i;
    }
    if (merges[best].rank == TableView::kNoMerge) break;
    ids[best] = merges[best].id;
    --count;
    for (std::size_t i = best + 1; i < count; ++i) {
      ids[i] = ids[i + 1];
      merges[i] = merges[i + 1];
    }
    if (best > 0) merges[best - 1] = tables_.FindMerge(ids[best - 1], ids[best]);
    if (best + 1 < count) merges[best] = tables_.FindMerge(ids[best], ids[best + 1]);
  }
  tokens.resize(begin + count);
}

void Merger::Offer(const TokenId* tokens, std::size_t position) {
  Node& node = nodes_[position];
  node.rank = TableView::kNoMerge;
  if (node.after == kNowhere) return;
  const TableView::Merge merge = tables_.FindMerge(tokens[position], tokens[node.after]);
  node.rank = merge.rank;
  if (merge.rank == TableView::kNoMerge) return;
  heap_.push_back({merge.rank, merge.id, position});
}

void Merger::MergeLong(std::vector<TokenId>& tokens, std::size_t begin) {
  TokenId* const ids = tokens.data() + begin;
  const std::size_t count = tokens.size() - begin;
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
  };
  heap_.clear();
  nodes_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    nodes_[i] = {i == 0 ? kNowhere : i - 1, i + 1 == count ? kNowhere : i + 1, 0};
  }
  for (std::size_t i = 0; i < count; ++i) Offer(ids, i);
  std::make_heap(heap_.begin(), heap_.end(), later);
  const auto offer = [&](std::size_t position) {
    const std::size_t size = heap_.size();
    Offer(ids, position);
    if (heap_.size() > size) std::push_heap(heap_.begin(), heap_.end(), later);
  };
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Candidate best = heap_.back();
    heap_.pop_back();
    Node& node = nodes_[best.position];
    if (node.rank != best.rank) continue;  // a neighbour has changed since
    const std::size_t gone = node.after;
    ids[best.position] = best.id;
    node.after = nodes_[gone].after;
    nodes_[gone].rank = TableView::kNoMerge;
    if (node.after != kNowhere) nodes_[node.after].before = best.position;
    offer(best.position);
    if (node.before != kNowhere) offer(node.before);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i != kNowhere; i = nodes_[i].after) ids[kept++] = ids[i];
  tokens.resize(begin + kept);
}

}  // namespace vivace
