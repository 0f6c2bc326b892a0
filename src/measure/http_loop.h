// HttpLoop: many HTTP requests at once whose answers are watched as they arrive, on the
// caller's thread.
//
// A thin layer over libcurl's multi interface: connections are kept and used again, names
// and TLS are its business. Sleeps until a byte comes, so that it costs next to nothing.
// Not thread-safe; callbacks run inside Poll and may start further calls.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vivace {

struct HttpCall {
  std::string url;
  std::string body = {};                  // empty: a GET; else a POST of JSON
  std::vector<std::string> headers = {};  // "Name: value"
  double silence_s = 300;                 // without a byte that long it is over
  std::size_t max_bytes = std::size_t{64} << 20;

  struct Head {
    int status = 0;
    std::string content_type;
  };
  struct End {
    Head head;            // status 0: there was none
    std::string problem;  // "" when the whole answer came
  };
  std::function<void(const Head&, std::string_view bytes)> on_bytes;
  std::function<void(const End&)> on_end;
};

class HttpLoop {
 public:
  HttpLoop();
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;
  ~HttpLoop();  // drops what runs, without further callbacks

  void Start(HttpCall call);
  // Does what can be done; waits at most `ms` for something to do.
  void Poll(double ms);
  std::size_t running() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace vivace
