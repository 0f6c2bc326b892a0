#include "http/testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

namespace vivace::http::testing {
namespace {

using namespace std::chrono_literals;

// Only a failing test waits this long.
constexpr auto kLong = 30s;

template <class Address>
int ConnectTo(int family, const Address& address) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const timeval time{.tv_sec = std::chrono::seconds(kLong).count(), .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

std::size_t ToNumber(std::string_view text, int base) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

// The lines after the first one.
Headers ParseFields(const std::string& head) {
  Headers headers;
  std::size_t line = head.find("\r\n") + 2;
  while (line + 2 < head.size()) {
    const std::size_t end = head.find("\r\n", line);
    const std::size_t colon = head.find(": ", line);
    headers.Add(head.substr(line, colon - line), head.substr(colon + 2, end - colon - 2));
    line = end + 2;
  }
  return headers;
}

}  // namespace

Client::Client(int fd) : fd_(fd) {}
Client::Client(Client&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}
Client& Client::operator=(Client&& other) noexcept {
  Close();
  fd_ = std::exchange(other.fd_, -1);
  buffer_ = std::move(other.buffer_);
  return *this;
}
Client::~Client() { Close(); }

Client Client::Tcp(std::uint16_t port, const char* host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host, &address.sin_addr) == 1)
    return Client(ConnectTo(AF_INET, address));
  sockaddr_in6 address6{};
  address6.sin6_family = AF_INET6;
  address6.sin6_port = htons(port);
  ::inet_pton(AF_INET6, host, &address6.sin6_addr);
  return Client(ConnectTo(AF_INET6, address6));
}

Client Client::Unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return Client(ConnectTo(AF_UNIX, address));
}

bool Client::Send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Client::Fill() {
  std::array<char, 65536> bytes{};
  const ssize_t count = ::recv(fd_, bytes.data(), bytes.size(), 0);
  if (count <= 0) return false;
  buffer_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

std::string Client::TakeTo(std::size_t size) {
  size = std::min(size, buffer_.size());
  std::string taken = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return taken;
}

std::string Client::ReadTo(std::string_view marker) {
  while (true) {
    const std::size_t found = buffer_.find(marker);
    if (found != std::string::npos) return TakeTo(found + marker.size());
    if (!Fill()) return TakeTo(buffer_.size());
  }
}

bool Client::ReadChunks(std::string& body) {
  while (true) {
    const std::string size_line = ReadTo("\r\n");
    if (!size_line.ends_with("\r\n")) return false;
    const std::size_t size = ToNumber(size_line, 16);
    while (buffer_.size() < size + 2) {
      if (!Fill()) return false;
    }
    body += TakeTo(size);
    TakeTo(2);
    if (size == 0) return true;
  }
}

Reply Client::Read(bool to_head) {
  Reply reply;
  const std::string head = ReadTo("\r\n\r\n");
  if (!head.ends_with("\r\n\r\n")) return reply;
  reply.status = static_cast<int>(ToNumber(std::string_view(head).substr(9, 3), 10));
  reply.headers = ParseFields(head);
  if (to_head || reply.status == 204 || reply.status == 304 || reply.status == 100) {
    reply.complete = true;
  } else if (reply.headers.HasToken("Transfer-Encoding", "chunked")) {
    reply.complete = ReadChunks(reply.body);
  } else if (reply.headers.Has("Content-Length")) {
    const std::size_t size = ToNumber(reply.headers.Get("Content-Length"), 10);
    while (buffer_.size() < size && Fill()) {
    }
    reply.complete = buffer_.size() >= size;
    reply.body = TakeTo(size);
  } else {
    while (Fill()) {
    }
    reply.body = TakeTo(buffer_.size());
    reply.complete = true;
  }
  return reply;
}

bool Client::WaitForEnd() {
  while (Fill()) {
  }
  return errno != EAGAIN && errno != EWOULDBLOCK;
}

void Client::StopSending() const { ::shutdown(fd_, SHUT_WR); }

void Client::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void Client::Reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  Close();
}

std::string Get(std::string_view path, std::string_view lines) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(lines) +
         "\r\n";
}

std::string Post(std::string_view path, std::string_view body, std::string_view lines) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(lines) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

void Latch::Set() {
  const std::scoped_lock lock(mutex_);
  set_ = true;
  changed_.notify_all();
}

bool Latch::Wait() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kLong, [this] { return set_; });
}

Handler Parking::handler() {
  return [this](Request request, const ResponseWriter& writer) {
    const std::scoped_lock lock(mutex_);
    parked_.push_back({std::move(request), writer});
    changed_.notify_all();
  };
}

Parking::Parked Parking::Take() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kLong, [this] { return !parked_.empty(); })) {
    ADD_FAILURE() << "no request came";
    std::abort();
  }
  Parked parked = std::move(parked_.front());
  parked_.erase(parked_.begin());
  return parked;
}

bool StopComes(const std::stop_token& stop) {
  Latch stopped;
  const std::stop_callback callback(stop, [&] { stopped.Set(); });
  return stopped.Wait();
}

bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

ServerOptions WithLimits(const Limits& limits) { return {.limits = limits}; }

TestServer::TestServer(ServerOptions options, Router router) {
  for (Listen& where : options.listen) where.port = 0;
  router.Add("GET", "/health", [](const Request&, const ResponseWriter& writer) {
    (void)writer.Send({.body = R"({"ok":true})"});
  });
  router.Add("POST", "/echo", [](Request request, const ResponseWriter& writer) {
    (void)writer.Send({.content_type = "text/plain", .body = std::move(request.body)});
  });
  router.Add("GET", "/items/{name}", [](const Request& request, const ResponseWriter& writer) {
    (void)writer.Send({.body = std::string(*request.segments.Find("name"))});
  });
  router.Add("GET", "/park", parking.handler());
  router.Add("POST", "/park", parking.handler());
  router.Add("GET", "/stream", [](const Request&, const ResponseWriter& writer) {
    (void)writer.Start({});
    for (const char* word : {"one", "two", "three"}) (void)writer.Write(Event(word));
    (void)writer.End();
  });
  auto started = Server::Start(std::move(options), std::move(router));
  if (!started) {
    ADD_FAILURE() << started.error().message;
    std::abort();
  }
  server = *std::move(started);
}

std::size_t NumDescriptors() {
  const auto entries = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

}  // namespace vivace::http::testing
