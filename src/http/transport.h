// Transport: one connected socket, with or without TLS. I/O thread only.
//
// One read and one write may be pending at the same time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <boost/asio/ssl/stream.hpp>

#include "http/asio.h"

namespace vivace::http {

class Transport {
 public:
  // `tls` may be null; else it must outlive the transport.
  Transport(Socket socket, asio::ssl::context* tls);

  struct Done {
    error_code error;
    std::size_t bytes = 0;  // none and no error: the end of the stream
  };

  asio::awaitable<error_code> Handshake();
  asio::awaitable<Done> Read(std::span<char> bytes);
  // Sends at least one byte, or fails.
  asio::awaitable<Done> Write(std::string_view first, std::string_view second);
  // Says to the client that nothing more will come.
  asio::awaitable<void> Shutdown();
  // Closes the socket; pending operations end with an error. What was written still arrives,
  // unless `reset`: then the client sees that the connection broke.
  void Close(bool reset);

  asio::any_io_executor executor() { return socket_.get_executor(); }
  // Whether the client has closed its side, as far as the system knows; unread bytes do not
  // hide it.
  bool PeerHasLeft();
  std::string PeerName() const;
  // Whether it was accepted on a loopback address.
  bool OnLoopback() const;

 private:
  Socket socket_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
};

}  // namespace vivace::http
