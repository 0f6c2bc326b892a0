#include "machine/limits.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "kernels/dispatch.h"
#include "machine/dot_peak.h"
#include "machine/read_target.h"

namespace vivace {
namespace {

ReadSpeed MeasureRead(const ReadTarget& target, ThreadTeam& team, int samples) {
  std::vector<double> one;
  std::vector<double> all;
  target.Read(team, team.size());  // wakes the threads and settles the pages
  for (int i = 0; i < samples; ++i) {
    one.push_back(target.Read(team, 1));
    all.push_back(target.Read(team, team.size()));
  }
  return {
      .one_thread = SpreadOf(std::move(one)),
      .all_threads = SpreadOf(std::move(all)),
      .huge_share = static_cast<double>(target.huge_bytes()) / static_cast<double>(target.bytes()),
      .error = ""};
}

Result<ReadSpeed> MeasureMemory(PageKind pages, ThreadTeam& team, const LimitOptions& options) {
  const auto target = ReadTarget::OfMemory(options.bytes, pages, team);
  if (!target) return Failure(target.error());
  return MeasureRead(*target, team, options.samples);
}

ReadSpeed MeasureFile(ThreadTeam& team, const LimitOptions& options) {
  ReadSpeed none;
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(options.file_folder, error);
  // The file is gone at once, but a disk must not fill up even for a moment.
  if (!error && space.available < 4 * options.bytes) none.error = "too little free disk";
  if (options.file_folder.empty()) none.error = "no folder to write to";
  if (!none.error.empty()) return none;
  const auto target = ReadTarget::OfFile(options.file_folder, options.bytes);
  if (target) return MeasureRead(*target, team, options.samples);
  none.error = target.error().message;
  return none;
}

TierPeak MeasureTier(const KernelTable& kernels, ThreadTeam& team, int samples) {
  std::vector<double> one;
  std::vector<double> all;
  MeasureDotPeak(kernels, team, team.size());
  for (int i = 0; i < samples; ++i) {
    one.push_back(MeasureDotPeak(kernels, team, 1));
    all.push_back(MeasureDotPeak(kernels, team, team.size()));
  }
  return {.tier = kernels.name,
          .one_thread = SpreadOf(std::move(one)),
          .all_threads = SpreadOf(std::move(all))};
}

}  // namespace

double MachineLimits::best_read() const {
  return std::max({huge_pages.all_threads.median, small_pages.all_threads.median,
                   file.all_threads.median, huge_pages.one_thread.median,
                   small_pages.one_thread.median, file.one_thread.median});
}

std::size_t ReadBytesFor(std::int64_t l3_total, std::int64_t usable) {
  constexpr std::int64_t kLeast = std::int64_t{16} << 20;
  constexpr std::int64_t kUsual = std::int64_t{256} << 20;
  const std::int64_t wanted = std::max(kUsual, 4 * l3_total);
  const std::int64_t bytes = std::max(kLeast, usable > 0 ? std::min(wanted, usable / 4) : wanted);
  return static_cast<std::size_t>(bytes) & ~((std::size_t{2} << 20) - 1);
}

Result<MachineLimits> MeasureLimits(ThreadTeam& team, const LimitOptions& options) {
  const double start = NowMs();
  const std::span tables = SupportedKernels();
  const auto steps = static_cast<double>(3 + tables.size());
  double done = 0;
  const auto step = [&] { options.progress(++done / steps); };
  MachineLimits limits;
  limits.threads = team.size();
  limits.bytes = options.bytes;
  auto huge = MeasureMemory(PageKind::kHuge, team, options);
  if (!huge) return Failure(std::move(huge).error());
  limits.huge_pages = std::move(*huge);
  step();
  auto small = MeasureMemory(PageKind::kSmall, team, options);
  if (!small) return Failure(std::move(small).error());
  limits.small_pages = std::move(*small);
  step();
  limits.file = MeasureFile(team, options);
  step();
  for (const KernelTable* table : tables) {
    limits.int8.push_back(MeasureTier(*table, team, options.samples));
    step();
  }
  limits.seconds = (NowMs() - start) / 1000;
  return limits;
}

}  // namespace vivace
