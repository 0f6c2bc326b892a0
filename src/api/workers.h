// Workers: a few threads for what is too long for the I/O thread: parsing, templates,
// tokenizing, loading models. Jobs run in the order they came.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace vivace {

class Workers {
 public:
  Workers(int threads, std::size_t max_waiting);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  // Drops the jobs that have not begun.
  ~Workers();

  // False, and the job is dropped, while `max_waiting` others wait. A job that throws has
  // ended.
  bool Post(std::function<void()> job);

 private:
  void Serve();

  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable job_arrived_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace vivace
