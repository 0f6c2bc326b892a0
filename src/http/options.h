// Everything about a server that its user chooses: where it listens, who may call it,
// what it bears, and the hooks by which the layer above shapes errors and writes a log.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/headers.h"
#include "http/response.h"

namespace vivace::http {

struct Listen {
  std::string host = "127.0.0.1";  // a name or an address; every address of a name is used
  std::uint16_t port = 8080;       // 0: one that is free, see Server::port()
  std::string unix_path = {};      // not empty: a UNIX socket there, and no TCP
};

struct TlsFiles {
  std::string certificate;  // PEM, with the chain
  std::string key;          // PEM
};

// What one client may take. Times run on the steady clock.
struct Limits {
  using Duration = std::chrono::milliseconds;

  std::size_t header_bytes = std::size_t{32} << 10;  // first line and header fields: else 431
  std::size_t body_bytes = std::size_t{32} << 20;    // else 413
  std::size_t stream_bytes = std::size_t{4} << 20;   // of a stream, waiting for a slow reader
  std::size_t connections = 1024;                    // more: the longest idle one goes, else 503
  Duration header_time{10'000};                      // from a request's first byte: else 408
  Duration body_time{60'000};                        // for the whole body: else 408
  Duration idle_time{75'000};                        // between requests: closed
  Duration write_time{30'000};                       // without a byte taken by the client: closed
  Duration ping_time{10'000};                        // of silence in a stream, then a ping

  // Says which value is outside its range.
  Result<void> Check() const;
};

// What is known of a request that the server itself turns down.
struct ErrorFacts {
  int status;
  std::string_view message;
  std::string_view method;  // empty when the first line could not be read
  std::string_view path;    // the same; decoded, without the query
};

// One finished request. Times in milliseconds since its head was complete.
struct AccessEntry {
  std::chrono::system_clock::time_point time;
  std::string_view id;
  std::string_view peer;
  std::string_view method;
  std::string_view path;
  int status;           // 499: the client left before there was an answer
  std::uint64_t bytes;  // sent, with headers
  double duration_ms;
  double first_byte_ms;  // 0 when none was sent
};

struct ServerOptions {
  std::vector<Listen> listen = {Listen{}};
  std::optional<TlsFiles> tls = {};  // for every TCP address
  Limits limits = {};

  std::vector<std::string> api_keys = {};      // empty: everybody may call
  std::vector<std::string> public_paths = {};  // need no key; a final '*' means all below
  // Web pages of these origins may call, beside our own and those of this machine; "*": all.
  std::vector<std::string> allowed_origins = {};
  // Names by which we are called on loopback, beside localhost (see OriginPolicy).
  std::vector<std::string> allowed_hosts = {};

  Headers default_headers = {};  // on every answer
  // Both run on the I/O thread and must be short. An error keeps its status whatever the
  // hook says, and the headers that belong to it.
  std::function<Response(const ErrorFacts&)> error_body = {};
  std::function<void(const AccessEntry&)> access_log = {};

  // Says what is outside its range.
  Result<void> Check() const;
};

}  // namespace vivace::http
