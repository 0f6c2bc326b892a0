// Target: the path and query of a request's first line, split and decoded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace vivace::http {

// Named values in the order they came: query parameters, or the named segments of a path.
class Parameters {
 public:
  void Add(std::string name, std::string value);
  // The first value of that name.
  std::optional<std::string_view> Find(std::string_view name) const;
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

struct Target {
  std::string path;  // decoded, for people and for prefixes
  // The path cut at '/' before decoding, so that "%2F" stays inside a segment.
  std::vector<std::string> segments;
  Parameters query;
};

// Takes "/path?query", "http://host/path?query" and "*" (whose path is "*").
// kBadInput for anything else, for broken percent signs and for zero bytes.
Result<Target> ParseTarget(std::string_view target);

// Decodes %XX, and '+' as a space if so asked; nothing when a '%' is not followed by two
// hexadecimal digits.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space = false);

}  // namespace vivace::http
