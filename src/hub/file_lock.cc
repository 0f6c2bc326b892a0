#include "hub/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

namespace vivace {
namespace {

// Polled, because a waiting flock cannot be told to stop by another thread.
constexpr std::chrono::milliseconds kPoll(100);

// Whether the path still names the open file: its last holder may have removed it.
bool IsCurrent(int fd, const std::string& path) {
  struct stat open_file = {};
  struct stat named = {};
  return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

}  // namespace

Result<FileLock> FileLock::TryAcquire(const std::string& path) {
  for (;;) {
    const int fd = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (fd < 0) return Fail(ErrorKind::kIo, path + ": " + std::generic_category().message(errno));
    FileLock lock(fd);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        return Fail(ErrorKind::kExhausted, path + ": held by another process");
      return Fail(ErrorKind::kIo, path + ": " + std::generic_category().message(errno));
    }
    if (IsCurrent(fd, path)) return lock;
  }
}

Result<FileLock> FileLock::Acquire(const std::string& path, const std::function<void()>& on_wait,
                                   const std::stop_token& stop) {
  for (bool waited = false;; waited = true) {
    auto lock = TryAcquire(path);
    if (lock || lock.error().kind != ErrorKind::kExhausted) return lock;
    if (stop.stop_requested()) return Fail(ErrorKind::kCancelled, path + ": interrupted");
    if (!waited) on_wait();
    std::this_thread::sleep_for(kPoll);
  }
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace vivace
