#include "http/connection.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>

namespace vivace::http {
namespace {

using namespace std::chrono_literals;

// A connection that waits costs little; one that sends a body reads in large pieces.
constexpr std::size_t kSmallRead = std::size_t{4} << 10;
constexpr std::size_t kLargeRead = std::size_t{64} << 10;
// How long a client may take to read our last answer while it is still sending. Without
// this pause its system would throw the answer away.
constexpr auto kGoodbyeTime = 1s;
// How often a client whose input we cannot take now is looked after.
constexpr auto kLookTime = 250ms;

}  // namespace

Connection::Connection(Socket socket, asio::ssl::context* tls, const Shared& shared)
    : shared_(shared),
      limits_(shared.options.limits),
      transport_(std::move(socket), tls),
      peer_(transport_.PeerName()),
      loopback_(transport_.OnLoopback()),
      wake_(transport_.executor()),
      room_(transport_.executor()),
      watchdog_(transport_.executor()) {}

void Connection::Start() {
  asio::co_spawn(transport_.executor(), Run(),
                 [self = shared_from_this()](const std::exception_ptr& fault) {
                   if (fault) self->Abort();
                   self->Close();
                 });
}

asio::awaitable<void> Connection::Run() {
  ArmWatchdog(limits_.header_time, true);
  const error_code error = co_await transport_.Handshake();
  DisarmWatchdog();
  if (error) co_return;
  asio::co_spawn(transport_.executor(), Pump(),
                 [self = shared_from_this()](const std::exception_ptr& fault) {
                   if (fault) self->Abort();
                 });
  while (co_await ServeOne()) {
  }
  co_await SayGoodbye();
}

// Reads ahead, but not without end: a client may send its next requests early.
std::size_t Connection::max_input() const { return limits_.header_bytes + kLargeRead; }

asio::awaitable<void> Connection::Pump() {
  std::vector<char> buffer(kSmallRead);
  while (true) {
    // Whoever sends so much ahead that even the system's buffer is full can leave unseen;
    // a stream finds out with its next event or ping.
    bool gone = false;
    while (input_.size() >= max_input() && !gone) {
      co_await room_.Wait(Clock::now() + kLookTime);
      gone = transport_.PeerHasLeft();
    }
    if (gone) break;
    const Transport::Done done = co_await transport_.Read(buffer);
    if (done.error || done.bytes == 0) break;
    if (!discarding_) input_.append(buffer.data(), done.bytes);
    wake_.Notify();
    if (done.bytes == buffer.size() && buffer.size() == kSmallRead) {
      buffer = std::vector<char>(kLargeRead);
    } else if (done.bytes < kSmallRead && buffer.size() > kSmallRead) {
      buffer = std::vector<char>(kSmallRead);
    }
  }
  peer_gone_ = true;
  // What is finished may still reach a client that only closed its sending side.
  if (exchange_ && !exchange_->finished()) Abort();
  wake_.Notify();
}

void Connection::Feed(RequestParser& parser) {
  const std::size_t used = parser.Feed(input_);
  if (used == 0) return;
  input_.erase(0, used);
  room_.Notify();
}

// Some clients end a body with a line break that belongs to nothing.
void Connection::SkipBlankLines() {
  std::size_t blank = 0;
  while (input_.compare(blank, 2, "\r\n") == 0) blank += 2;
  input_.erase(0, blank);
}

asio::awaitable<bool> Connection::ReadHead(RequestParser& parser, std::optional<ParseFault>& late) {
  request_begun_ = false;
  if (input_.empty()) input_ = {};  // a waiting connection keeps no memory
  shared_.connections.MarkWaiting(this);
  Clock::time_point deadline = Clock::now() + limits_.idle_time;
  while (true) {
    if (!request_begun_) SkipBlankLines();
    if (!request_begun_ && !input_.empty()) {
      request_begun_ = true;
      deadline = Clock::now() + limits_.header_time;
    }
    Feed(parser);
    if (parser.head_done() || parser.fault()) break;
    if (peer_gone_ || (shared_.connections.draining() && !request_begun_)) co_return false;
    if (Clock::now() >= deadline) {
      if (!request_begun_) co_return false;
      late = ParseFault{408, "the request's header did not come in time"};
      break;
    }
    co_await wake_.Wait(deadline);
  }
  shared_.connections.MarkBusy(this);
  co_return true;
}

asio::awaitable<bool> Connection::ReadBody(RequestParser& parser, std::optional<ParseFault>& late) {
  const Clock::time_point deadline = Clock::now() + limits_.body_time;
  if (parser.head().expects_continue && input_.empty() && !parser.done()) {
    if (!co_await WriteAll("HTTP/1.1 100 Continue\r\n\r\n", {})) co_return false;
  }
  while (true) {
    Feed(parser);
    if (parser.done() || parser.fault()) co_return true;
    if (peer_gone_) co_return false;
    if (Clock::now() >= deadline) {
      late = ParseFault{408, "the request's body did not come in time"};
      co_return true;
    }
    if (input_.size() >= max_input()) {
      late = ParseFault{400, "a chunk of the request's body has a header that does not end"};
      co_return true;
    }
    co_await wake_.Wait(deadline);
  }
}

asio::awaitable<bool> Connection::WriteAll(std::string_view first, std::string_view second) {
  while (!first.empty() || !second.empty()) {
    ArmWatchdog(limits_.write_time, true);
    const Transport::Done done = co_await transport_.Write(first, second);
    DisarmWatchdog();
    if (done.error) co_return false;
    if (!first_byte_) first_byte_ = Clock::now();
    sent_ += done.bytes;
    const std::size_t of_first = std::min(done.bytes, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(done.bytes - of_first);
  }
  co_return true;
}

asio::awaitable<void> Connection::SayGoodbye() {
  if (peer_gone_) co_return;
  discarding_ = true;
  unread_ = unread_ || !input_.empty();
  input_.clear();
  room_.Notify();
  // No reset: the end of a large answer may still be on its way.
  ArmWatchdog(kGoodbyeTime, false);
  co_await transport_.Shutdown();
  while (unread_ && !peer_gone_) co_await wake_.Wait(Clock::time_point::max());
  DisarmWatchdog();
}

void Connection::ArmWatchdog(Clock::duration time, bool reset) {
  watchdog_.expires_after(time);
  watchdog_.async_wait([weak = weak_from_this(), reset](const error_code& error) {
    const auto self = weak.lock();
    // The timer may have run out just before it was set anew.
    if (!error && self && Clock::now() >= self->watchdog_.expiry()) self->Drop(reset);
  });
}

void Connection::DisarmWatchdog() { watchdog_.expires_at(Clock::time_point::max()); }

void Connection::Drop(bool reset) {
  peer_gone_ = true;
  DisarmWatchdog();
  transport_.Close(reset);
  wake_.Notify();
  room_.Notify();
  if (exchange_) exchange_->Detach();
}

void Connection::Close() {
  DisarmWatchdog();
  if (exchange_) exchange_->Detach();
  transport_.Close(false);
  room_.Notify();
  shared_.connections.Remove(this);
}

}  // namespace vivace::http
