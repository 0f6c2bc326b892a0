// Signal: by which one coroutine wakes another. I/O thread only.
#pragma once

#include <utility>

#include "http/asio.h"

namespace vivace::http {

class Signal {
 public:
  explicit Signal(const asio::any_io_executor& executor) : timer_(executor) {}

  void Notify() {
    raised_ = true;
    timer_.cancel();
  }

  // One coroutine at a time may wait. True when notified, now or since the last Wait; false
  // when the deadline came first.
  asio::awaitable<bool> Wait(Clock::time_point deadline) {
    if (!raised_) {
      timer_.expires_at(deadline);
      co_await timer_.async_wait(kAwait);
    }
    co_return std::exchange(raised_, false);
  }

 private:
  asio::steady_timer timer_;
  bool raised_ = false;
};

}  // namespace vivace::http
