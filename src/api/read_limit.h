// ReadLimit: how fast the threads of the first model can read its weights and do nothing
// else: the limit of the speed at which answers are written.
//
// Measured once, by a thread of its own, when no request has been there for some seconds:
// a few dozen reads of some milliseconds each, between which requests go first.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "api/model_pool.h"

namespace vivace {

class ReadLimit {
 public:
  // `models` must outlive this.
  explicit ReadLimit(ModelPool& models);
  ReadLimit(const ReadLimit&) = delete;
  ReadLimit& operator=(const ReadLimit&) = delete;
  ~ReadLimit() = default;  // ends after the read that is running

  // 0 until it was measured. Any thread.
  double bytes_per_second() const { return speed_.load(std::memory_order_relaxed); }

 private:
  void Run(const std::stop_token& stop);
  // What the models have done so far; nothing while a request runs or waits.
  std::optional<std::int64_t> WorkDone();

  ModelPool& models_;
  std::atomic<double> speed_ = 0;
  std::mutex mutex_;  // for the condition only
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it uses all the others
};

}  // namespace vivace
