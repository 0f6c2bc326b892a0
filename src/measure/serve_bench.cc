#include "measure/serve_bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "measure/serve_batch.h"
#include "measure/serve_target.h"

namespace vivace {
namespace {

// Processor time of this program so far, in seconds.
double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Runner {
 public:
  Runner(const ServeBenchOptions& options, HttpLoop& loop, const std::stop_token& cancel,
         const std::function<void(double, std::string_view)>& progress)
      : options_(options), loop_(loop), cancel_(cancel), progress_(progress) {
    for (const ServeTarget& target : options.targets) {
      result_.targets.push_back({.target = target,
                                 .samples = {},
                                 .batch_s = std::vector<double>(options.workloads.size()),
                                 .cpu_s = 0});
    }
  }

  Result<ServeBenchResult> Run() {
    const double start = NowMs();
    for (int round = -1; round < options_.rounds && !cancel_.stop_requested(); ++round) {
      for (std::size_t workload = 0; workload < options_.workloads.size(); ++workload) {
        Workloads(round, workload);
      }
      if (round == -1 && !cancel_.stop_requested()) VIVACE_RETURN_IF_ERROR(CheckWarmUp());
    }
    result_.interrupted = cancel_.stop_requested();
    result_.seconds = (NowMs() - start) / 1000;
    return std::move(result_);
  }

 private:
  // One workload with every server; another one begins each time.
  void Workloads(int round, std::size_t workload) {
    const std::size_t count = result_.targets.size();
    for (std::size_t i = 0; i < count && !cancel_.stop_requested(); ++i) {
      const std::size_t first = static_cast<std::size_t>(round + 1) + workload;
      ServeTargetResult& target = result_.targets[(first + i) % count];
      Say(round, workload, target.target.name);
      const double cpu = CpuSeconds();
      const double seconds = RunServeBatch(
          loop_,
          {.options = &options_, .target = &target.target, .workload = workload, .round = round},
          cancel_, target.samples);
      if (round < 0) continue;
      target.batch_s[workload] += seconds;
      target.cpu_s += CpuSeconds() - cpu;
    }
  }

  // A server that has not answered once is not going to.
  Result<void> CheckWarmUp() const {
    for (const ServeTargetResult& target : result_.targets) {
      const auto failed = [](const ServeSample& sample) { return !sample.answer.error.empty(); };
      if (!std::all_of(target.samples.begin(), target.samples.end(), failed)) continue;
      return Fail(ErrorKind::kIo,
                  fmt::format("{} ({}): no request succeeds: {}", target.target.name,
                              target.target.url, target.samples.front().answer.error));
    }
    return {};
  }

  void Say(int round, std::size_t workload, const std::string& server) {
    const std::size_t parts = options_.workloads.size() * options_.targets.size();
    const double all = static_cast<double>(parts) * (options_.rounds + 1);
    const std::string which =
        round < 0 ? "warm-up" : fmt::format("round {} of {}", round + 1, options_.rounds);
    progress_(part_++ / all,
              fmt::format("{}: {}, {}", which, options_.workloads[workload].name, server));
  }

  const ServeBenchOptions& options_;
  HttpLoop& loop_;
  const std::stop_token& cancel_;
  const std::function<void(double, std::string_view)>& progress_;
  ServeBenchResult result_;
  double part_ = 0;
};

}  // namespace

Result<ServeBenchResult> RunServeBench(
    ServeBenchOptions options, const std::stop_token& cancel,
    const std::function<void(double, std::string_view)>& progress) {
  HttpLoop loop;
  for (ServeTarget& target : options.targets) {
    auto model = FindModel(loop, target, options);
    if (!model) return Failure(std::move(model).error());
    if (target.model.empty()) target.model = *std::move(model);
  }
  return Runner(options, loop, cancel, progress).Run();
}

}  // namespace vivace
