// For tests: a client that speaks raw bytes over a blocking socket, and a server with the
// handlers that the tests share.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/server.h"

namespace vivace::http::testing {

// One answer as it came.
struct Reply {
  int status = 0;  // 0: there was none, or it broke off
  Headers headers;
  std::string body;       // without the chunks' frames
  bool complete = false;  // the end that was announced was seen
};

class Client {
 public:
  static Client Tcp(std::uint16_t port, const char* host = "127.0.0.1");
  static Client Unix(const std::string& path);
  Client() = default;
  Client(Client&& other) noexcept;
  Client& operator=(Client&& other) noexcept;
  ~Client();

  bool connected() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  // False when the server closed the connection.
  bool Send(std::string_view bytes) const;
  // `to_head`: the request was a HEAD, whose answer has no body.
  Reply Read(bool to_head = false);
  Reply Ask(std::string_view request) { return Send(request), Read(); }
  // Everything up to and with the marker; what there is when the connection ends before.
  std::string ReadTo(std::string_view marker);
  // Reads to the end. False when nothing came for too long.
  bool WaitForEnd();
  void StopSending() const;
  void Close();
  // Closes so that the server sees an error instead of an end.
  void Reset();

 private:
  explicit Client(int fd);
  bool Fill();
  bool ReadChunks(std::string& body);
  std::string TakeTo(std::size_t size);

  int fd_ = -1;
  std::string buffer_;
};

// "GET /path HTTP/1.1" with a Host, further lines as given ("A: b\r\n").
std::string Get(std::string_view path, std::string_view lines = {});
std::string Post(std::string_view path, std::string_view body, std::string_view lines = {});

// Something that one thread waits for and another brings about.
class Latch {
 public:
  void Set();
  // Waits long; false only when the test has failed.
  bool Wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

// Requests that a handler left unanswered, for a test to answer or to watch.
class Parking {
 public:
  struct Parked {
    Request request;
    ResponseWriter writer;
  };
  Handler handler();
  // Waits for the next one.
  Parked Take();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Parked> parked_;
};

// Whether the request is told to stop, now or soon.
bool StopComes(const std::stop_token& stop);
// Waits until the condition holds; false when it does not for long.
bool Eventually(const std::function<bool()>& condition);

// A server on a free port of 127.0.0.1: GET /health answers {"ok":true}, POST /echo its
// body, GET /items/{name} the name, /park goes to `parking`, GET /stream sends three events.
class TestServer {
 public:
  explicit TestServer(ServerOptions options = {}, Router router = {});

  Client Connect() const { return Client::Tcp(server->port()); }

  Parking parking;
  std::unique_ptr<Server> server;
};

ServerOptions WithLimits(const Limits& limits);
std::size_t NumDescriptors();

}  // namespace vivace::http::testing
