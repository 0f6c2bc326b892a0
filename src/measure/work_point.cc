#include "measure/work_point.h"

#include <utility>

namespace vivace {

WorkPoint WorkSamples::Point() const {
  const auto count = static_cast<double>(samples.size());
  WorkPoint point;
  point.size = size;
  point.work = work;
  point.samples = static_cast<int>(samples.size());
  for (const WorkSample& sample : samples) point.output_bytes += sample.output_bytes / count;
  point.work.bytes += point.output_bytes;

  // value(sample, what it read and made) over all samples
  const auto spread = [&](const auto& value) {
    std::vector<double> values;
    for (const WorkSample& sample : samples) {
      Work done = work;
      done.bytes += sample.output_bytes;
      values.push_back(value(sample, done));
    }
    return SpreadOf(std::move(values));
  };
  const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0; };
  point.seconds = spread([](const WorkSample& s, const Work&) { return s.seconds; });
  point.tokens = spread([&](const WorkSample& s, const Work& w) { return w.tokens / s.seconds; });
  point.bytes = spread([&](const WorkSample& s, const Work& w) { return w.bytes / s.seconds; });
  point.products =
      spread([&](const WorkSample& s, const Work& w) { return w.products / s.seconds; });
  point.limit_share = spread(
      [&](const WorkSample& s, const Work& w) { return LeastSeconds(w, s.limit) / s.seconds; });
  point.read_share = spread([&](const WorkSample& s, const Work& w) {
    return ratio(w.bytes / s.seconds, s.limit.bytes);
  });
  point.peak_share = spread([&](const WorkSample& s, const Work& w) {
    return ratio(w.products / s.seconds, s.limit.products);
  });
  return point;
}

std::vector<WorkPoint> PointsOf(const std::vector<WorkSamples>& samples) {
  std::vector<WorkPoint> points;
  for (const WorkSamples& point : samples) {
    if (!point.samples.empty()) points.push_back(point.Point());
  }
  return points;
}

}  // namespace vivace
