#include "http/transport.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/ssl/error.hpp>
#include <fmt/format.h>

namespace vivace::http {
namespace {

using Buffers = std::array<asio::const_buffer, 2>;

// A peer that vanished without a word is found out within about two minutes, even while
// we have nothing to send.
constexpr int kKeepAliveIdle = 60, kKeepAliveStep = 15, kKeepAliveTries = 4;

template <int kLevel, int kName>
using IntegerOption = asio::detail::socket_option::integer<kLevel, kName>;

// Failures do not matter: a UNIX socket has none of these options.
void Tune(Socket& socket) {
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.set_option(IntegerOption<IPPROTO_TCP, TCP_KEEPIDLE>(kKeepAliveIdle), ignored);
  socket.set_option(IntegerOption<IPPROTO_TCP, TCP_KEEPINTVL>(kKeepAliveStep), ignored);
  socket.set_option(IntegerOption<IPPROTO_TCP, TCP_KEEPCNT>(kKeepAliveTries), ignored);
}

bool IsEnd(const error_code& error) {
  return error == asio::error::eof || error == asio::ssl::error::stream_truncated;
}

// Copied out of the generic endpoint, whose storage has another type.
template <class Address>
Address As(const Protocol::endpoint& endpoint) {
  Address address{};
  std::memcpy(&address, endpoint.data(), std::min(sizeof address, endpoint.size()));
  return address;
}

}  // namespace

Transport::Transport(Socket socket, asio::ssl::context* tls) : socket_(std::move(socket)) {
  Tune(socket_);
  if (tls != nullptr) tls_.emplace(socket_, *tls);
}

asio::awaitable<error_code> Transport::Handshake() {
  if (!tls_) co_return error_code{};
  const auto [error] = co_await tls_->async_handshake(asio::ssl::stream_base::server, kAwait);
  co_return error;
}

asio::awaitable<Transport::Done> Transport::Read(std::span<char> bytes) {
  const asio::mutable_buffer buffer(bytes.data(), bytes.size());
  Done done;
  if (tls_) {
    const auto [error, count] = co_await tls_->async_read_some(buffer, kAwait);
    done = {error, count};
  } else {
    const auto [error, count] = co_await socket_.async_read_some(buffer, kAwait);
    done = {error, count};
  }
  if (IsEnd(done.error)) done = {};
  co_return done;
}

asio::awaitable<Transport::Done> Transport::Write(std::string_view first, std::string_view second) {
  const Buffers buffers = {asio::const_buffer(first.data(), first.size()),
                           asio::const_buffer(second.data(), second.size())};
  if (tls_) {
    const auto [error, count] = co_await tls_->async_write_some(buffers, kAwait);
    co_return Done{error, count};
  }
  const auto [error, count] = co_await socket_.async_write_some(buffers, kAwait);
  co_return Done{error, count};
}

asio::awaitable<void> Transport::Shutdown() {
  if (tls_) co_await tls_->async_shutdown(kAwait);
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Transport::Close(bool reset) {
  error_code ignored;
  if (reset) socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

bool Transport::PeerHasLeft() {
  if (!socket_.is_open()) return true;
  pollfd state{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&state, 1, 0) > 0;
}

std::string Transport::PeerName() const {
  error_code error;
  const Protocol::endpoint peer = socket_.remote_endpoint(error);
  if (error) return "unknown";
  std::array<char, INET6_ADDRSTRLEN> text{};
  switch (peer.protocol().family()) {
    case AF_INET: {
      const auto address = As<sockaddr_in>(peer);
      inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
      return fmt::format("{}:{}", text.data(), ntohs(address.sin_port));
    }
    case AF_INET6: {
      const auto address = As<sockaddr_in6>(peer);
      inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
      return fmt::format("[{}]:{}", text.data(), ntohs(address.sin6_port));
    }
    default:
      return "unix";
  }
}

bool Transport::OnLoopback() const {
  error_code error;
  const Protocol::endpoint local = socket_.local_endpoint(error);
  if (error) return false;
  if (local.protocol().family() == AF_INET)
    return ntohl(As<sockaddr_in>(local).sin_addr.s_addr) >> 24 == 127;
  if (local.protocol().family() != AF_INET6) return false;
  const auto address = As<sockaddr_in6>(local).sin6_addr;
  // An IPv4 client of an IPv6 socket has ::ffff:127.0.0.1.
  return IN6_IS_ADDR_LOOPBACK(&address) ||
         (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127);
}

}  // namespace vivace::http
