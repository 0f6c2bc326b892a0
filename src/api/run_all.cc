#include "api/run_all.h"

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <utility>

namespace vivace {
namespace {

struct Run {
  ModelLease model;
  std::vector<RunResult> results;
  std::function<void(std::span<const RunResult>)> done;
  std::stop_source stop;
  std::optional<std::stop_callback<std::function<void()>>> passes_on;
  std::atomic<std::size_t> open;
  std::atomic<bool> failed = false;

  void End(std::size_t index, const DoneEvent& event) {
    results[index] = {.reason = event.reason,
                      .timings = event.timings,
                      .embedding = {event.embedding.begin(), event.embedding.end()}};
    if (open.fetch_sub(1) == 1 && !failed) done(results);
  }
};

}  // namespace

Answer<void> RunAll(const ModelLease& model, std::vector<GenerateRequest> requests,
                    const std::stop_token& stop,
                    std::function<void(std::span<const RunResult>)> done) {
  const auto run = std::make_shared<Run>();
  run->model = model;
  run->results.resize(requests.size());
  run->done = std::move(done);
  run->open = requests.size();
  run->passes_on.emplace(stop, [source = run->stop]() mutable { source.request_stop(); });
  if (requests.empty()) run->done({});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto submitted = model->engine().Submit(
        std::move(requests[i]),
        [run, i](const Event& event) {
          if (const auto* end = std::get_if<DoneEvent>(&event)) run->End(i, *end);
        },
        run->stop.get_token());
    if (!submitted) {
      run->failed = true;
      run->stop.request_stop();
      return Refusal(submitted.error());
    }
  }
  return {};
}

Answer<std::vector<RunResult>> RunAndWait(const ModelLease& model,
                                          std::vector<GenerateRequest> requests) {
  std::promise<std::vector<RunResult>> promise;
  const auto started =
      RunAll(model, std::move(requests), {}, [&](std::span<const RunResult> results) {
        promise.set_value({results.begin(), results.end()});
      });
  if (!started) return Refusal(started.error());
  return promise.get_future().get();
}

}  // namespace vivace
