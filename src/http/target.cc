#include "http/target.h"

#include <algorithm>

#include "base/ascii.h"
#include "http/headers.h"

namespace vivace::http {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A client may not smuggle an end of text past code that passes strings to the system.
bool HasZero(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Failure BadTarget(const char* why) {
  return Fail(ErrorKind::kBadInput, std::string("the request's target ") + why);
}

// "http://host/path" -> "/path". A proxy's form, which a server must take too.
std::string_view WithoutOrigin(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!EqualsIgnoreCase(target.substr(0, scheme.size()), scheme)) continue;
    const std::size_t path = target.find_first_of("/?", scheme.size());
    if (path == std::string_view::npos) return "/";
    return target[path] == '/' ? target.substr(path) : "";
  }
  return target;
}

Result<void> ParseQuery(std::string_view query, Parameters& parameters) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::optional<std::string> name = PercentDecode(pair.substr(0, equals), true);
    std::optional<std::string> value =
        PercentDecode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value) return BadTarget("has a '%' without two hexadecimal digits in its query");
    if (HasZero(*name) || HasZero(*value)) return BadTarget("has a zero byte in its query");
    parameters.Add(std::move(*name), std::move(*value));
  }
  return {};
}

}  // namespace

void Parameters::Add(std::string name, std::string value) {
  values_.emplace_back(std::move(name), std::move(value));
}

std::optional<std::string_view> Parameters::Find(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+' && plus_is_space) {
      decoded.push_back(' ');
    } else if (text[at] != '%') {
      decoded.push_back(text[at]);
    } else {
      if (at + 2 >= text.size()) return std::nullopt;
      const int high = HexDigit(text[at + 1]);
      const int low = HexDigit(text[at + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      decoded.push_back(static_cast<char>(high * 16 + low));
      at += 2;
    }
  }
  return decoded;
}

Result<Target> ParseTarget(std::string_view target) {
  Target parsed;
  if (target == "*") {
    parsed.path = "*";
    return parsed;
  }
  target = WithoutOrigin(target);
  if (!target.starts_with('/')) return BadTarget("does not begin with '/'");
  target = target.substr(0, target.find('#'));
  const std::size_t mark = std::min(target.find('?'), target.size());
  std::string_view path = target.substr(1, mark - 1);
  while (true) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    std::optional<std::string> segment = PercentDecode(path.substr(0, slash));
    if (!segment) return BadTarget("has a '%' without two hexadecimal digits in its path");
    if (HasZero(*segment)) return BadTarget("has a zero byte in its path");
    parsed.path += '/';
    parsed.path += *segment;
    parsed.segments.push_back(std::move(*segment));
    if (slash == path.size()) break;
    path.remove_prefix(slash + 1);
  }
  const std::string_view query = target.substr(std::min(mark + 1, target.size()));
  VIVACE_RETURN_IF_ERROR(ParseQuery(query, parsed.query));
  return parsed;
}

}  // namespace vivace::http
