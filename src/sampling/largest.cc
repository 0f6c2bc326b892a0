#include "sampling/largest.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace vivace {
namespace {

constexpr std::size_t kBlock = 32;
constexpr float kLowest = -std::numeric_limits<float>::infinity();

std::size_t BlocksOf(std::size_t size) { return (size + kBlock - 1) / kBlock; }

// Eight maxima side by side: the form that compilers turn into vector code.
float BlockMax(std::span<const float> block) {
  constexpr std::size_t kLanes = 8;
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, kLowest);
  std::size_t i = 0;
  for (; i + kLanes <= block.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = block[i + lane] > lanes[lane] ? block[i + lane] : lanes[lane];
    }
  }
  for (; i < block.size(); ++i) lanes[0] = block[i] > lanes[0] ? block[i] : lanes[0];
  return *std::max_element(lanes, lanes + kLanes);
}

std::span<const float> BlockOf(std::span<const float> logits, std::size_t index) {
  const std::size_t begin = index * kBlock;
  return logits.subspan(begin, std::min(kBlock, logits.size() - begin));
}

}  // namespace

TokenId ArgMax(std::span<const float> logits) {
  float best = kLowest;
  std::size_t best_block = 0;
  for (std::size_t block = 0; block < BlocksOf(logits.size()); ++block) {
    const float largest = BlockMax(BlockOf(logits, block));
    if (largest > best) {
      best = largest;
      best_block = block;
    }
  }
  if (best == kLowest) return 0;
  const std::span<const float> block = BlockOf(logits, best_block);
  const auto at = std::find(block.begin(), block.end(), best) - block.begin();
  return static_cast<TokenId>(best_block * kBlock + static_cast<std::size_t>(at));
}

void LargestFinder::Reserve(std::size_t vocab_size) {
  maxima_.reserve(BlocksOf(vocab_size));
  sorted_.reserve(BlocksOf(vocab_size));
  candidates_.reserve(vocab_size);
}

std::span<Candidate> LargestFinder::Find(std::span<const float> logits, std::size_t count) {
  candidates_.clear();
  if (count == 0) return candidates_;
  const std::size_t blocks = BlocksOf(logits.size());
  maxima_.clear();
  for (std::size_t block = 0; block < blocks; ++block) {
    maxima_.push_back(BlockMax(BlockOf(logits, block)));
  }
  // `count` blocks reach this, so at least as many values do.
  float threshold = kLowest;
  if (count < blocks) {
    sorted_.assign(maxima_.begin(), maxima_.end());
    const auto at = sorted_.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(sorted_.begin(), at, sorted_.end(), std::greater<>());
    threshold = *at;
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    if (maxima_[block] < threshold) continue;
    const std::span<const float> values = BlockOf(logits, block);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float logit = std::isnan(values[i]) ? kLowest : values[i];
      if (logit < threshold) continue;
      candidates_.push_back({static_cast<TokenId>(block * kBlock + i), logit});
    }
  }
  const auto before = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  if (count < candidates_.size()) {
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(candidates_.begin(), end, candidates_.end(), before);
    candidates_.resize(count);
  }
  std::sort(candidates_.begin(), candidates_.end(), before);
  return candidates_;
}

}  // namespace vivace
