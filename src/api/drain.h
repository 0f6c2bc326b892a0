// Drain: the wish that a server finishes what it has and takes no more. Any thread.
#pragma once

#include <condition_variable>
#include <mutex>

namespace vivace {

class Drain {
 public:
  void Request() {
    {
      const std::lock_guard lock(mutex_);
      requested_ = true;
    }
    changed_.notify_all();
  }

  bool requested() const {
    const std::lock_guard lock(mutex_);
    return requested_;
  }

  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return requested_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool requested_ = false;
};

}  // namespace vivace
