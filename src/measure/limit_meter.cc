#include "measure/limit_meter.h"

#include <algorithm>
#include <utility>

#include "base/page_promotion.h"
#include "machine/dot_peak.h"

namespace vivace {

Result<LimitMeter> LimitMeter::Create(const Model& model, ThreadTeam& team, std::size_t bytes) {
  auto memory = ReadTarget::OfMemory(bytes, PageKind::kHuge, team);
  if (!memory) return Failure(std::move(memory).error());
  return LimitMeter(model, team, std::move(*memory));
}

Limit LimitMeter::Measure() {
  constexpr int kTimes = 3;
  std::vector<double> memory;
  std::vector<double> weights;
  std::vector<double> products;
  for (int i = 0; i < kTimes; ++i) {
    memory.push_back(memory_.Read(*team_, team_->size()));
    weights.push_back(weights_.Read(*team_, team_->size()));
    products.push_back(MeasureDotPeak(*kernels_, *team_, team_->size()));
  }
  memory_speeds_.push_back(SpreadOf(std::move(memory)).median);
  weights_speeds_.push_back(SpreadOf(std::move(weights)).median);
  peaks_.push_back(SpreadOf(std::move(products)).median);
  speeds_.push_back(std::max(memory_speeds_.back(), weights_speeds_.back()));
  return {.bytes = speeds_.back(), .products = peaks_.back()};
}

double LimitMeter::weights_huge_share() const {
  const std::byte* first = weight_bytes_.front().data();
  const std::byte* last = first;
  for (const auto& part : weight_bytes_) {
    first = std::min(first, part.data());
    last = std::max(last, part.data() + part.size());
  }
  // The mapping may hold more than the weights, so this can be somewhat too large.
  const std::size_t huge = HugeMappedBytes({first, last});
  return std::min(1.0, static_cast<double>(huge) / static_cast<double>(weights_.bytes()));
}

}  // namespace vivace
