// Router: which handler answers a method and path.
//
// A pattern is a path whose segments are literal text, "{name}" for any one segment, or,
// at the end, "*" for whatever follows. Literal beats name beats rest, whatever the order
// in which routes were added. Immutable once the server has it; any thread may look.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http/request.h"
#include "http/response_writer.h"

namespace vivace::http {

// Runs on the I/O thread and must return soon: work belongs on another thread, which
// answers through the writer when it is done.
using Handler = std::function<void(Request, ResponseWriter)>;

class Router {
 public:
  struct Match {
    const Handler* handler = nullptr;  // null: no such path, or not with this method
    Parameters segments;               // the rest of a "*" pattern has the name "*"
    std::vector<std::string> methods;  // that the path does have; empty: no such path
  };

  // A method and pattern come once. A GET handler is used for HEAD as well.
  void Add(std::string_view method, std::string_view pattern, Handler handler);

  Match Find(std::string_view method, const Target& target) const;

  // "GET, HEAD, OPTIONS", for an Allow header.
  static std::string Allow(std::vector<std::string> methods);

 private:
  enum class Kind : std::uint8_t { kLiteral, kName, kRest };
  struct Segment {
    Kind kind;
    std::string text;
  };
  struct Route {
    std::string method;
    std::vector<Segment> pattern;
    Handler handler;
  };

  static bool Matches(const std::vector<Segment>& pattern, const std::vector<std::string>& path);
  static Parameters Bind(const std::vector<Segment>& pattern, const std::vector<std::string>& path);

  std::vector<Route> routes_;  // the more special first
};

}  // namespace vivace::http
