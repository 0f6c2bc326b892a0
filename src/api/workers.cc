#include "api/workers.h"

#include <exception>
#include <utility>

namespace vivace {

Workers::Workers(int threads, std::size_t max_waiting) : max_waiting_(max_waiting) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Serve(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  job_arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Workers::Post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || jobs_.size() >= max_waiting_) return false;
    jobs_.push_back(std::move(job));
  }
  job_arrived_.notify_one();
  return true;
}

void Workers::Serve() {
  while (true) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      job_arrived_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    try {
      job();
    } catch (const std::exception&) {
      // No memory, or a fault of ours: it costs one request, whose writer goes away with
      // the job, so that its client gets a 500.
      continue;
    }
  }
}

}  // namespace vivace
