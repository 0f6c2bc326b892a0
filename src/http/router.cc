#include "http/router.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace vivace::http {

void Router::Add(std::string_view method, std::string_view pattern, Handler handler) {
  VIVACE_CHECK(pattern.starts_with('/'), "a route's pattern begins with '/'");
  Route route{.method = std::string(method), .pattern = {}, .handler = std::move(handler)};
  while (!pattern.empty()) {
    pattern.remove_prefix(1);
    const std::size_t slash = std::min(pattern.find('/'), pattern.size());
    const std::string_view text = pattern.substr(0, slash);
    pattern.remove_prefix(slash);
    if (text == "*") {
      VIVACE_CHECK(pattern.empty(), "'*' ends a route's pattern");
      route.pattern.push_back({Kind::kRest, "*"});
    } else if (text.starts_with('{') && text.ends_with('}')) {
      route.pattern.push_back({Kind::kName, std::string(text.substr(1, text.size() - 2))});
    } else {
      route.pattern.push_back({Kind::kLiteral, std::string(text)});
    }
  }
  const auto less_special = [](const Route& a, const Route& b) {
    return std::ranges::lexicographical_compare(a.pattern, b.pattern, {}, &Segment::kind,
                                                &Segment::kind);
  };
  routes_.insert(std::ranges::upper_bound(routes_, route, less_special), std::move(route));
}

bool Router::Matches(const std::vector<Segment>& pattern, const std::vector<std::string>& path) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at].kind == Kind::kRest) return at < path.size();
    if (at >= path.size()) return false;
    if (pattern[at].kind == Kind::kName ? path[at].empty() : pattern[at].text != path[at])
      return false;
  }
  return pattern.size() == path.size();
}

Parameters Router::Bind(const std::vector<Segment>& pattern, const std::vector<std::string>& path) {
  Parameters bound;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at].kind == Kind::kName) bound.Add(pattern[at].text, path[at]);
    if (pattern[at].kind != Kind::kRest) continue;
    std::string rest = path[at];
    for (std::size_t next = at + 1; next < path.size(); ++next) rest.append("/").append(path[next]);
    bound.Add("*", std::move(rest));
  }
  return bound;
}

Router::Match Router::Find(std::string_view method, const Target& target) const {
  Match match;
  const Route* get = nullptr;
  for (const Route& route : routes_) {
    if (!Matches(route.pattern, target.segments)) continue;
    if (route.method == method) {
      match.handler = &route.handler;
      match.segments = Bind(route.pattern, target.segments);
      return match;
    }
    if (route.method == "GET" && get == nullptr) get = &route;
    if (std::ranges::find(match.methods, route.method) == match.methods.end())
      match.methods.push_back(route.method);
  }
  if (method == "HEAD" && get != nullptr) {
    match.handler = &get->handler;
    match.segments = Bind(get->pattern, target.segments);
  }
  return match;
}

std::string Router::Allow(std::vector<std::string> methods) {
  methods.emplace_back("OPTIONS");
  if (std::ranges::find(methods, "GET") != methods.end()) methods.emplace_back("HEAD");
  std::ranges::sort(methods);
  methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
  std::string list;
  for (const std::string& method : methods) list += (list.empty() ? "" : ", ") + method;
  return list;
}

}  // namespace vivace::http
