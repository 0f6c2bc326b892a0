// FairLock: a lock that is handed on in the order in which it was asked for.
//
// Engines of several models take it for each step, so that each step has all cores and no
// engine waits for more than one step of each other one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace vivace {

class FairLock {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    const std::uint64_t mine = next_++;
    passed_on_.wait(guard, [&] { return serving_ == mine; });
  }

  void unlock() {
    {
      const std::lock_guard guard(mutex_);
      ++serving_;
    }
    passed_on_.notify_all();
  }

  // Whether somebody has it or waits for it.
  bool in_use() const {
    const std::lock_guard guard(mutex_);
    return serving_ != next_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable passed_on_;
  std::uint64_t next_ = 0;
  std::uint64_t serving_ = 0;  // whose turn it is
};

}  // namespace vivace
