#include "sampling/typical.h"

#include <cmath>

#include "sampling/candidates.h"
#include "sampling/exp.h"
#include "sampling/packed_sort.h"

namespace vivace {

void TypicalFilter::Reserve(std::size_t size) {
  for (auto* buffer : {&deviations_, &sorted_deviations_, &scratch_}) buffer->reserve(size);
}

std::span<Candidate> TypicalFilter::Keep(std::span<Candidate> sorted, float typical_p,
                                         std::size_t least) {
  const double total = SumOfWeights(sorted);
  const double log_total = FixedLog(total);
  const auto below_best = [&](std::size_t i) { return sorted[i].logit - sorted.front().logit; };
  const auto probability = [&](std::size_t i) {
    return static_cast<double>(FixedExp(below_best(i))) / total;
  };
  const auto surprise = [&](std::size_t i) {
    return log_total - static_cast<double>(below_best(i));
  };
  const double entropy = EntropyOf(sorted);
  deviations_.clear();
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto deviation = static_cast<float>(std::fabs(surprise(i) - entropy));
    deviations_.push_back(Pack(AscendingKey(deviation), i));
  }
  sorted_deviations_.assign(deviations_.begin(), deviations_.end());
  SortPacked(sorted_deviations_, scratch_);
  double mass = 0;
  std::uint64_t farthest = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i >= least && mass >= static_cast<double>(typical_p)) break;
    farthest = sorted_deviations_[i];
    mass += probability(PackedIndex(farthest));
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (deviations_[i] <= farthest) sorted[kept++] = sorted[i];
  }
  return sorted.first(kept);
}

}  // namespace vivace
