// Connection: the life of one client's connection, on the I/O thread.
//
// Two coroutines share it. Pump reads, always, into `input_`: so a client that leaves is
// noticed whatever else goes on, also while its request waits in someone's queue. Run
// parses what was read, asks the gate and the handler, and writes answers in order.
// An exception, which can only be one of memory, ends the connection and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/connection_set.h"
#include "http/exchange.h"
#include "http/gate.h"
#include "http/options.h"
#include "http/signal.h"
#include "http/transport.h"

namespace vivace::http {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // What all connections of a server share; outlives them.
  struct Shared {
    const ServerOptions& options;
    const Gate& gate;
    ConnectionSet& connections;
  };

  Connection(Socket socket, asio::ssl::context* tls, const Shared& shared);

  void Start();
  // Drops the client at once; it sees an error. A handler that is at work is stopped.
  void Abort() { Drop(true); }
  // Closes a connection that waits for a request. What it was sent before still arrives.
  void CloseWaiting() { Drop(false); }
  // Whether a part of a request has come in and waits for the rest.
  bool has_input() const { return request_begun_ || !input_.empty(); }

 private:
  // One request and its answer.
  struct Turn {
    const RequestHead& head;
    std::string id;
    Headers headers = {};  // for the answer, whoever gives it
    bool keep_alive = false;
    bool streaming = false;
    std::string ping = {};  // of the stream, when nothing was written for ping_time
    Clock::duration ping_time = {};
    Clock::time_point ping_at = Clock::time_point::max();
    int status = 499;  // the client left first
    std::chrono::system_clock::time_point time = std::chrono::system_clock::now();
    Clock::time_point received = Clock::now();
  };

  asio::awaitable<void> Run();
  asio::awaitable<void> Pump();
  // False when this was the last.
  asio::awaitable<bool> ServeOne();
  // Both: false when the client has left; a fault is the parser's, or a time-out in `late`.
  asio::awaitable<bool> ReadHead(RequestParser& parser, std::optional<ParseFault>& late);
  asio::awaitable<bool> ReadBody(RequestParser& parser, std::optional<ParseFault>& late);
  asio::awaitable<bool> Ask(const Handler& handler, Turn& turn, Request request);
  // True when the answer has been sent to its end.
  asio::awaitable<bool> SendWhole(Turn& turn, Response response);
  asio::awaitable<bool> SendFromExchange(Turn& turn);
  asio::awaitable<bool> WriteAll(std::string_view first, std::string_view second);
  asio::awaitable<void> SayGoodbye();

  std::string StreamHeadBytes(Turn& turn, const StreamHead& head) const;
  std::string WireBytes(Turn& turn, const Exchange::Output& output) const;
  void AppendBody(const Turn& turn, std::string_view bytes, std::string& wire) const;
  void Feed(RequestParser& parser);
  void SkipBlankLines();
  void Log(const Turn& turn) const;
  // Ends the connection, for the client visibly if `reset`, unless Disarm comes within that time.
  void ArmWatchdog(Clock::duration time, bool reset);
  void DisarmWatchdog();
  void Drop(bool reset);
  void Close();
  std::size_t max_input() const;

  const Shared& shared_;
  const Limits& limits_;
  Transport transport_;
  const std::string peer_;
  const bool loopback_;
  Signal wake_;  // of Run: input, the end of it, or something to send
  Signal room_;  // of Pump: `input_` was used
  asio::steady_timer watchdog_;

  std::string input_;  // read and not parsed yet
  bool request_begun_ = false;
  bool discarding_ = false;  // what still comes in is of no interest
  bool peer_gone_ = false;
  bool unread_ = false;                 // the client may still be sending a body
  std::shared_ptr<Exchange> exchange_;  // while a handler is at work
  std::uint64_t sent_ = 0;              // in this turn
  std::optional<Clock::time_point> first_byte_;
};

}  // namespace vivace::http
