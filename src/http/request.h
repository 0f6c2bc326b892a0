// Request: one request as a handler gets it, whole and owned.
//
// A handler may move it to another thread and keep it as long as it likes.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "http/headers.h"
#include "http/target.h"

namespace vivace::http {

struct Request {
  std::string method;
  std::string path;     // decoded, without the query
  Parameters segments;  // what "{name}" in the route's pattern stood for
  Parameters query;
  Headers headers;
  std::string api_key;  // one of ours that it named; "" where it named none
  std::string body;
  std::string peer;  // "192.0.2.1:4711", "[::1]:4711" or "unix"
  std::string id;    // the client's X-Request-Id if it is sane, else ours
  std::chrono::steady_clock::time_point received;  // when its head was complete

  // Fires when the answer is no longer wanted: the client left, does not read, or the
  // server stops. Callbacks run on the I/O thread and must be short. It never fires after
  // the last byte of the answer was handed over.
  std::stop_token stop;
};

}  // namespace vivace::http
