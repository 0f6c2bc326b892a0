// FileLock: one process at a time, for as long as the object lives.
//
// The file under the lock stays behind; only a holder may remove it. The system
// releases the lock should the process die.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/result.h"

namespace vivace {

class FileLock {
 public:
  // Waits; `on_wait` is called once if that is needed. kCancelled when asked to stop.
  static Result<FileLock> Acquire(const std::string& path, const std::function<void()>& on_wait,
                                  const std::stop_token& stop);
  // kExhausted when another process holds it.
  static Result<FileLock> TryAcquire(const std::string& path);

  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace vivace
