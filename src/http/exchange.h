// Exchange: the queue between the writers of one answer, on any thread, and the
// connection that sends it, on the I/O thread.
//
// Bytes gather here while the connection is busy writing, so that many small writes
// become one large one. The lock is held for moves and appends only; `wake` is called
// under it, so that after Detach nobody touches the I/O thread's objects any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/response.h"

namespace vivace::http {

class Exchange {
 public:
  // What there is to send since the last Take.
  struct Output {
    std::optional<Response> whole;
    std::optional<StreamHead> head;
    std::string bytes;
    bool finished = false;   // nothing follows
    bool overrun = false;    // the client read too slowly
    bool abandoned = false;  // the handler let go without an end
  };

  // `wake` asks the I/O thread to Take; it must be callable from any thread.
  Exchange(std::size_t max_waiting, std::function<void()> wake);

  // For writers.
  Result<void> Send(Response response);
  Result<void> Start(StreamHead head);
  Result<void> Write(std::string_view bytes);
  Result<void> End();
  void Abandon();

  // For the connection. Take means that everything taken before has been sent.
  Output Take();
  bool finished() const;
  // Lets go of the connection. Stops the handler if its answer is not finished.
  void Detach();
  std::stop_token stop_token() const { return stop_.get_token(); }

 private:
  enum class Phase : std::uint8_t { kOpen, kStreaming, kFinished, kBroken, kDetached };

  // With the lock held.
  Result<void> CheckPhase(Phase wanted) const;
  void Wake();

  const std::size_t max_waiting_;
  std::stop_source stop_;
  mutable std::mutex mutex_;  // guards all below
  std::function<void()> wake_;
  bool woken_ = false;  // since the last Take
  Phase phase_ = Phase::kOpen;
  Output output_;
  std::size_t being_sent_ = 0;
};

}  // namespace vivace::http
