// OriginPolicy: which web pages may call us from a browser.
//
// A server on this machine can be reached by every page that a browser here shows, and
// without a key nothing else would stop it. So a page of another origin is turned away,
// not merely left without CORS headers: a "simple" request would have done its work by
// then. A page can also make its own name point to 127.0.0.1 and so look like ours;
// hence, on loopback and without keys, Host must name this machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/headers.h"

namespace vivace::http {

class OriginPolicy {
 public:
  OriginPolicy() = default;
  OriginPolicy(std::vector<std::string> allowed_origins, std::vector<std::string> allowed_hosts,
               bool has_keys);

  // Why the request is turned away, in words for its sender; nothing when it is let in.
  // `loopback`: it came over the loopback interface.
  std::optional<std::string> Refuse(const Headers& request, bool loopback) const;

  // The CORS headers of any answer to an admitted request; none without an Origin.
  Headers AnswerHeaders(const Headers& request) const;
  // Those of the answer to a preflight.
  Headers PreflightHeaders(const Headers& request, std::string_view methods) const;

 private:
  bool AllowsAll() const;
  bool IsOurName(std::string_view name) const;
  bool AllowsOrigin(std::string_view origin, std::string_view host) const;

  std::vector<std::string> origins_;
  std::vector<std::string> hosts_;
  bool has_keys_ = false;
};

}  // namespace vivace::http
