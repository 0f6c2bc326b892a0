// Listener: one listening socket, and the loop that accepts from it. I/O thread only,
// except Bind, which runs before that thread does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/asio.h"
#include "http/options.h"

namespace vivace::http {

class Listener {
 public:
  struct Hooks {
    std::function<void(Socket)> accepted;
    // Out of descriptors or memory: give up something, if there is something idle.
    std::function<void()> make_room;
  };

  // Listens on every address that `where` stands for. kIo when it cannot, with the reason.
  static Result<std::vector<Listener>> Bind(asio::io_context& io, const Listen& where);

  ~Listener();
  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;

  // Until Close. The listener must live as long as the loop.
  asio::awaitable<void> AcceptLoop(Hooks hooks);
  // Removes the file of a UNIX socket.
  void Close();

  std::uint16_t port() const;  // 0 for a UNIX socket
  bool is_unix() const { return !unix_path_.empty(); }

 private:
  Listener(asio::io_context& io, Acceptor acceptor, std::string unix_path);

  static std::optional<Listener> BindTo(asio::io_context& io, const Protocol::endpoint& endpoint,
                                        std::string unix_path, error_code& error);
  static Result<std::vector<Listener>> BindUnix(asio::io_context& io, const std::string& path);

  Acceptor acceptor_;
  asio::steady_timer pause_;
  std::string unix_path_;
};

}  // namespace vivace::http
