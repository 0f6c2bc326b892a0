#include "http/origin_policy.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace vivace::http {
namespace {

bool Contains(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::any_of(list, [&](const auto& item) { return EqualsIgnoreCase(item, text); });
}

// "https://Name:8080" -> "Name:8080"; the text itself when there is no scheme.
std::string_view Authority(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  return scheme == std::string_view::npos ? origin : origin.substr(scheme + 3);
}

// "name:8080" -> "name", "[::1]:8080" -> "[::1]"; the whole text when a port is no number.
std::string_view HostName(std::string_view authority) {
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  const std::size_t colon = authority.find(':', std::min(bracket, authority.size()));
  if (colon == std::string_view::npos) return authority;
  const std::string_view port = authority.substr(colon + 1);
  const bool is_number = port.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? authority.substr(0, colon) : authority;
}

bool IsThisMachine(std::string_view name) {
  const std::string lower = ToLower(name);
  return lower == "localhost" || lower.ends_with(".localhost") || lower == "[::1]" ||
         lower == "127.0.0.1";
}

// No name can be made to point elsewhere where there is no name.
bool IsAddress(std::string_view name) {
  if (name.starts_with('[')) return true;
  return !name.empty() && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

OriginPolicy::OriginPolicy(std::vector<std::string> allowed_origins,
                           std::vector<std::string> allowed_hosts, bool has_keys)
    : origins_(std::move(allowed_origins)), hosts_(std::move(allowed_hosts)), has_keys_(has_keys) {}

bool OriginPolicy::AllowsAll() const { return Contains(origins_, "*"); }

bool OriginPolicy::AllowsOrigin(std::string_view origin, std::string_view host) const {
  return AllowsAll() || Contains(origins_, origin) || EqualsIgnoreCase(Authority(origin), host) ||
         IsThisMachine(HostName(Authority(origin)));
}

bool OriginPolicy::IsOurName(std::string_view name) const {
  return name.empty() || IsAddress(name) || IsThisMachine(name) || Contains(hosts_, name) ||
         std::ranges::any_of(origins_, [&](const std::string& origin) {
           return EqualsIgnoreCase(HostName(Authority(origin)), name);
         });
}

std::optional<std::string> OriginPolicy::Refuse(const Headers& request, bool loopback) const {
  const std::string_view host = request.Get("Host");
  const std::string_view name = HostName(host);
  if (loopback && !has_keys_ && !AllowsAll() && !IsOurName(name))
    return "host '" + std::string(name) + "' is not this machine, and not among the allowed hosts";
  if (!request.Has("Origin")) return std::nullopt;
  const std::string_view origin = request.Get("Origin");
  if (AllowsOrigin(origin, host)) return std::nullopt;
  return "origin '" + std::string(origin) + "' is not among the allowed origins";
}

Headers OriginPolicy::AnswerHeaders(const Headers& request) const {
  Headers headers;
  if (!request.Has("Origin")) return headers;
  headers.Add("Access-Control-Allow-Origin",
              AllowsAll() ? "*" : std::string(request.Get("Origin")));
  headers.Add("Access-Control-Expose-Headers", "X-Request-Id, Server-Timing, Retry-After");
  headers.Add("Vary", "Origin");
  return headers;
}

// The wanted headers are named one by one: "*" would leave out Authorization.
Headers OriginPolicy::PreflightHeaders(const Headers& request, std::string_view methods) const {
  Headers headers;
  headers.Add("Access-Control-Allow-Methods", std::string(methods));
  const std::string_view wanted = request.Get("Access-Control-Request-Headers");
  headers.Add("Access-Control-Allow-Headers",
              wanted.empty() ? "Authorization, Content-Type, X-Api-Key" : std::string(wanted));
  headers.Add("Access-Control-Max-Age", "600");
  if (request.Has("Access-Control-Request-Private-Network"))
    headers.Add("Access-Control-Allow-Private-Network", "true");
  return headers;
}

}  // namespace vivace::http
