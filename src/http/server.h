// Server: listens, and answers through a Router. Knows nothing of what it serves.
//
// One I/O thread, its own, serves every socket, so that a short answer never waits for
// long work; handlers run there too and hand work on. The methods here may be called from
// any thread but that one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/options.h"
#include "http/router.h"

namespace vivace::http {

class Server {
 public:
  // Answers requests when it returns. kBadInput for options out of range and unusable TLS
  // files, kIo when an address cannot be listened on.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Router router);
  ~Server();  // as Stop
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Takes no new connections, closes those that wait for a request, and lets running
  // requests finish. Returns at once.
  void Drain();
  // Whether every connection was closed within that time.
  bool WaitUntilDrained(std::chrono::milliseconds time) const;
  // Drops everything: handlers are told to stop, and their writers fail from now on. When
  // it returns no handler or hook runs or will be called.
  void Stop();

  std::uint16_t port() const;                  // of the first TCP address; 0 without one
  std::vector<std::string> addresses() const;  // "http://127.0.0.1:8080", "unix:/run/x.sock"
  std::size_t num_connections() const;

 private:
  class Core;
  explicit Server(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace vivace::http
