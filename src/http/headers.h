// Headers: the header fields of a request or response, in order.
//
// Names compare without regard to case, as HTTP wants. A list and no map: there
// are few of them, and the same name may come twice.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vivace::http {

struct Header {
  std::string name;
  std::string value;
};

class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> fields) : fields_(fields) {}

  void Add(std::string name, std::string value);
  // Replaces what is there under that name.
  void Set(std::string_view name, std::string value);

  // The first value under the name; empty when there is none.
  std::string_view Get(std::string_view name) const;
  bool Has(std::string_view name) const { return Count(name) > 0; }
  std::size_t Count(std::string_view name) const;
  // Whether a comma-separated field of that name holds the token, as "close" in Connection.
  bool HasToken(std::string_view name, std::string_view token) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }

 private:
  std::vector<Header> fields_;
};

std::string_view Trim(std::string_view text);

}  // namespace vivace::http
