#include "sampling/largest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "sampling/packed_sort.h"

namespace vivace {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// A group is a column of the row of logits folded into lines of this length: so the maxima
// of all groups are found side by side, in loops that compilers turn into vector code.
constexpr std::size_t kColumns = 4096;

struct Folded {
  std::span<const float> logits;
  std::size_t columns;
  std::array<float, kColumns> maxima;  // the first `columns` are used

  explicit Folded(std::span<const float> row)
      : logits(row), columns(std::min(kColumns, row.size())) {
    std::fill_n(maxima.begin(), columns, kLowest);
    for (std::size_t begin = 0; begin < logits.size(); begin += columns) {
      const std::span<const float> line =
          logits.subspan(begin, std::min(columns, logits.size() - begin));
      for (std::size_t i = 0; i < line.size(); ++i) {
        maxima[i] = line[i] > maxima[i] ? line[i] : maxima[i];
      }
    }
  }
};

// Descending by logit, then ascending by id. NaN counts as -inf.
std::uint64_t PackLogit(float logit, std::size_t id) {
  return Pack(~AscendingKey(std::isnan(logit) ? kLowest : logit), id);
}

}  // namespace

TokenId ArgMax(std::span<const float> logits) {
  if (logits.empty()) return 0;
  const Folded folded(logits);
  const std::span<const float> maxima(folded.maxima.data(), folded.columns);
  float best = kLowest;
  for (const float value : maxima) best = value > best ? value : best;
  if (best == kLowest) return 0;
  std::size_t first = logits.size();
  for (std::size_t column = 0; column < maxima.size(); ++column) {
    if (maxima[column] != best) continue;
    std::size_t index = column;
    while (logits[index] != best) index += folded.columns;
    first = std::min(first, index);
  }
  return static_cast<TokenId>(first);
}

void LargestFinder::Reserve(std::size_t vocab_size) {
  packed_.reserve(vocab_size);
  scratch_.reserve(vocab_size);
  candidates_.reserve(vocab_size);
}

// Fills packed_ with the `count` largest, sorted, and maybe more behind them.
void LargestFinder::Gather(std::span<const float> logits, std::size_t count) {
  packed_.clear();
  if (count >= std::min(kColumns, logits.size())) {
    for (std::size_t id = 0; id < logits.size(); ++id) packed_.push_back(PackLogit(logits[id], id));
    SortPacked(packed_, scratch_);
    return;
  }
  const Folded folded(logits);
  std::array<float, kColumns> maxima = folded.maxima;
  const auto at = maxima.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(maxima.begin(), at, maxima.begin() + static_cast<std::ptrdiff_t>(folded.columns),
                   std::greater<>());
  // `count` groups reach this, so at least as many values do.
  const float threshold = *at;
  for (std::size_t column = 0; column < folded.columns; ++column) {
    if (folded.maxima[column] < threshold) continue;
    for (std::size_t id = column; id < logits.size(); id += folded.columns) {
      if (!(logits[id] < threshold)) packed_.push_back(PackLogit(logits[id], id));
    }
  }
  std::nth_element(packed_.begin(), packed_.begin() + static_cast<std::ptrdiff_t>(count - 1),
                   packed_.end());
  packed_.resize(count);
  std::sort(packed_.begin(), packed_.end());
}

std::span<Candidate> LargestFinder::Find(std::span<const float> logits, std::size_t count) {
  candidates_.clear();
  if (count == 0) return candidates_;
  Gather(logits, count);
  for (std::size_t i = 0; i < std::min(count, packed_.size()); ++i) {
    const std::uint32_t id = PackedIndex(packed_[i]);
    const float logit = logits[id];
    candidates_.push_back({static_cast<TokenId>(id), std::isnan(logit) ? kLowest : logit});
  }
  return candidates_;
}

}  // namespace vivace
