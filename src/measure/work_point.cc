#include "measure/work_point.h"

namespace vivace {

WorkPoint WorkSamples::Point() const {
  const auto per_second = [&](double amount) {
    std::vector<double> rates;
    for (const double value : seconds) rates.push_back(amount / value);
    return SpreadOf(std::move(rates));
  };
  const auto share = [&](const auto& least_seconds) {
    std::vector<double> least;
    for (const Limit& limit : limits) least.push_back(least_seconds(limit));
    return SpreadOfShares(least, seconds);
  };
  return {.size = size,
          .work = work,
          .samples = static_cast<int>(seconds.size()),
          .seconds = SpreadOf(seconds),
          .tokens = per_second(work.tokens),
          .bytes = per_second(work.bytes),
          .products = per_second(work.products),
          .limit_share = share([&](const Limit& l) { return LeastSeconds(work, l); }),
          .read_share = share([&](const Limit& l) { return work.bytes / l.bytes; }),
          .peak_share = share([&](const Limit& l) { return work.products / l.products; })};
}

std::vector<WorkPoint> PointsOf(const std::vector<WorkSamples>& samples) {
  std::vector<WorkPoint> points;
  for (const WorkSamples& point : samples) {
    if (!point.seconds.empty()) points.push_back(point.Point());
  }
  return points;
}

}  // namespace vivace
