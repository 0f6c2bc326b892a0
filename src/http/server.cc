#include "http/server.h"

#include <sys/socket.h>

#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "http/connection.h"
#include "http/listener.h"
#include "http/tls.h"

namespace vivace::http {
namespace {

// To a client for whom there is no room. Not worth a coroutine: it fits into the socket's
// buffer, or is lost.
constexpr std::string_view kNoRoom =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
    "Connection: close\r\n\r\n";

}  // namespace

class Server::Core {
 public:
  Core(ServerOptions options, Router router)
      : options_(std::move(options)), router_(std::move(router)), gate_(options_, router_) {}

  Result<void> Open() {
    VIVACE_RETURN_IF_ERROR(options_.Check());
    if (options_.tls) {
      auto tls = LoadTls(*options_.tls);
      if (!tls) return Failure(std::move(tls).error());
      tls_ = *std::move(tls);
    }
    for (const Listen& where : options_.listen) {
      auto bound = Listener::Bind(io_, where);
      if (!bound) return Failure(std::move(bound).error());
      for (Listener& listener : *bound) {
        addresses_.push_back(AddressOf(where, listener));
        if (port_ == 0) port_ = listener.port();
        listeners_.push_back(std::move(listener));
      }
    }
    return {};
  }

  void Launch() {
    for (Listener& listener : listeners_) {
      Listener::Hooks hooks{.accepted = [this, unix = listener.is_unix()](
                                            Socket socket) { Accept(std::move(socket), unix); },
                            .make_room = [this] { connections_.CloseLongestWaiting(); }};
      asio::co_spawn(io_, listener.AcceptLoop(std::move(hooks)), asio::detached);
    }
    thread_ = std::thread([this] { RunLoop(); });
  }

  void Drain() {
    asio::post(io_, [this] {
      CloseListeners();
      connections_.Drain();
    });
  }

  void Stop() {
    std::call_once(stopped_, [this] {
      asio::post(io_, [this] {
        CloseListeners();
        connections_.AbortAll();
        work_.reset();
      });
      if (thread_.joinable()) thread_.join();
    });
  }

  const ConnectionSet& connections() const { return connections_; }
  std::uint16_t port() const { return port_; }
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  std::string AddressOf(const Listen& where, const Listener& listener) const {
    if (listener.is_unix()) return "unix:" + where.unix_path;
    const bool is_ipv6 = where.host.find(':') != std::string::npos;
    return fmt::format("{}://{}{}{}:{}", tls_ ? "https" : "http", is_ipv6 ? "[" : "", where.host,
                       is_ipv6 ? "]" : "", listener.port());
  }

  // A want of memory that no connection caught costs an operation, not the server.
  void RunLoop() {
    while (true) {
      try {
        io_.run();
        return;
      } catch (const std::bad_alloc&) {
        continue;
      }
    }
  }

  void Accept(Socket socket, bool is_unix) {
    if (!work_.owns_work()) return;  // stopped meanwhile
    if (connections_.size() >= options_.limits.connections && !connections_.CloseLongestWaiting()) {
      if (!tls_ || is_unix)
        ::send(socket.native_handle(), kNoRoom.data(), kNoRoom.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      return;
    }
    const auto connection =
        std::make_shared<Connection>(std::move(socket), is_unix ? nullptr : tls_.get(), shared_);
    connections_.Add(connection);
    connection->Start();
  }

  void CloseListeners() {
    for (Listener& listener : listeners_) listener.Close();
  }

  const ServerOptions options_;
  const Router router_;
  const Gate gate_;
  std::unique_ptr<asio::ssl::context> tls_;
  ConnectionSet connections_;
  const Connection::Shared shared_{options_, gate_, connections_};
  std::vector<std::string> addresses_;
  std::uint16_t port_ = 0;

  // Last, so that nothing which a coroutine refers to goes before it.
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::vector<Listener> listeners_;
  std::once_flag stopped_;
  std::thread thread_;
};

Server::Server(std::unique_ptr<Core> core) : core_(std::move(core)) {}

Server::~Server() { core_->Stop(); }

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Router router) {
  auto core = std::make_unique<Core>(std::move(options), std::move(router));
  VIVACE_RETURN_IF_ERROR(core->Open());
  core->Launch();
  return std::unique_ptr<Server>(new Server(std::move(core)));
}

void Server::Drain() { core_->Drain(); }
void Server::Stop() { core_->Stop(); }
bool Server::WaitUntilDrained(std::chrono::milliseconds time) const {
  return core_->connections().WaitUntilEmpty(time);
}
std::uint16_t Server::port() const { return core_->port(); }
std::vector<std::string> Server::addresses() const { return core_->addresses(); }
std::size_t Server::num_connections() const { return core_->connections().size(); }

}  // namespace vivace::http
