#include "http/listener.h"

#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <fmt/format.h>

namespace vivace::http {
namespace {

using asio::ip::tcp;
using std::chrono::milliseconds;

// While descriptors are short, trying again at once would only burn a core.
constexpr milliseconds kFirstPause{10};
constexpr milliseconds kLongestPause{1000};

Failure CannotListen(const std::string& where, const error_code& error) {
  return Fail(ErrorKind::kIo, "cannot listen on " + where + ": " + error.message());
}

// A socket file that nobody answers at is the leftover of a killed server.
Result<void> RemoveStaleSocket(asio::io_context& io, const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return {};
  if (!S_ISSOCK(facts.st_mode))
    return Fail(ErrorKind::kBadInput, "cannot listen on " + path + ": it is not a socket");
  asio::local::stream_protocol::socket probe(io);
  error_code error;
  probe.connect(asio::local::stream_protocol::endpoint(path), error);
  if (!error) return Fail(ErrorKind::kIo, "cannot listen on " + path + ": a server is there");
  ::unlink(path.c_str());
  return {};
}

bool IsLackOfRoom(const error_code& error) {
  return error == boost::system::errc::too_many_files_open ||
         error == boost::system::errc::too_many_files_open_in_system ||
         error == boost::system::errc::no_buffer_space ||
         error == boost::system::errc::not_enough_memory;
}

bool IsLackOfFamily(const error_code& error) {
  return error == boost::system::errc::address_not_available ||
         error == boost::system::errc::address_family_not_supported;
}

// The length of sockaddr_un's path, less its end.
constexpr std::size_t kMaxUnixPath = 107;

}  // namespace

Listener::Listener(asio::io_context& io, Acceptor acceptor, std::string unix_path)
    : acceptor_(std::move(acceptor)), pause_(io), unix_path_(std::move(unix_path)) {}

Listener::~Listener() { Close(); }

std::optional<Listener> Listener::BindTo(asio::io_context& io, const Protocol::endpoint& endpoint,
                                         std::string unix_path, error_code& error) {
  Acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), error);
  if (!error && unix_path.empty()) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  // "::" is every address, of IPv4 too.
  error_code ignored;
  if (endpoint.protocol().family() == AF_INET6)
    acceptor.set_option(asio::ip::v6_only(false), ignored);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return std::nullopt;
  return Listener(io, std::move(acceptor), std::move(unix_path));
}

Result<std::vector<Listener>> Listener::BindUnix(asio::io_context& io, const std::string& path) {
  if (path.size() > kMaxUnixPath)
    return Fail(ErrorKind::kBadInput, fmt::format("the socket's path has {} bytes, the limit is {}",
                                                  path.size(), kMaxUnixPath));
  VIVACE_RETURN_IF_ERROR(RemoveStaleSocket(io, path));
  error_code error;
  std::optional<Listener> listener =
      BindTo(io, asio::local::stream_protocol::endpoint(path), path, error);
  if (!listener) return CannotListen(path, error);
  std::vector<Listener> listeners;
  listeners.push_back(*std::move(listener));
  return listeners;
}

Result<std::vector<Listener>> Listener::Bind(asio::io_context& io, const Listen& where) {
  if (!where.unix_path.empty()) return BindUnix(io, where.unix_path);
  const std::string name = fmt::format("{}:{}", where.host, where.port);
  error_code error;
  tcp::resolver resolver(io);
  const auto found =
      resolver.resolve(where.host, std::to_string(where.port),
                       tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error) return CannotListen(name, error);
  std::vector<Listener> listeners;
  std::set<asio::ip::address> addresses;  // a hosts file may name one twice
  std::uint16_t port = where.port;
  error_code last;
  for (const auto& entry : found) {
    if (!addresses.insert(entry.endpoint().address()).second) continue;
    error_code refused;
    std::optional<Listener> listener =
        BindTo(io, tcp::endpoint(entry.endpoint().address(), port), "", refused);
    if (!listener) {
      // A machine without IPv6 still calls ::1 localhost; all else is the user's business.
      if (!IsLackOfFamily(refused)) return CannotListen(name, refused);
      last = refused;
      continue;
    }
    // All addresses of one name share a port, also where the system picked it.
    port = listener->port();
    listeners.push_back(*std::move(listener));
  }
  if (listeners.empty()) return CannotListen(name, last);
  return listeners;
}

std::uint16_t Listener::port() const {
  error_code error;
  const Protocol::endpoint local = acceptor_.local_endpoint(error);
  if (error || is_unix()) return 0;
  // The port lies at the same place for IPv4 and IPv6.
  sockaddr_in address{};
  std::copy_n(reinterpret_cast<const char*>(local.data()), sizeof address,
              reinterpret_cast<char*>(&address));
  return ntohs(address.sin_port);
}

asio::awaitable<void> Listener::AcceptLoop(Hooks hooks) {
  milliseconds pause = kFirstPause;
  while (acceptor_.is_open()) {
    Socket socket(acceptor_.get_executor());
    const auto [error] = co_await acceptor_.async_accept(socket, kAwait);
    if (!error) {
      pause = kFirstPause;
      hooks.accepted(std::move(socket));
      continue;
    }
    if (!acceptor_.is_open()) break;
    if (IsLackOfRoom(error)) hooks.make_room();
    pause_.expires_after(pause);
    co_await pause_.async_wait(kAwait);
    pause = std::min(pause * 2, kLongestPause);
  }
}

void Listener::Close() {
  if (!acceptor_.is_open()) return;
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  if (is_unix()) ::unlink(unix_path_.c_str());
}

}  // namespace vivace::http
