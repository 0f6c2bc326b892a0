// ApiKeys: who may call. Keys are kept as digests and compared in constant time, so that
// neither memory nor timing gives one away.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/headers.h"

namespace vivace::http {

class ApiKeys {
 public:
  ApiKeys() = default;
  // `public_paths` need no key; "/assets/*" means everything below /assets/.
  ApiKeys(const std::vector<std::string>& keys, std::vector<std::string> public_paths);

  bool empty() const { return digests_.empty(); }
  // True when there are no keys, the path is public, or `Authorization: Bearer KEY` or
  // `X-Api-Key: KEY` names one.
  bool Allow(std::string_view path, const Headers& headers) const;
  // That key; "" where none of ours is named.
  std::string KeyIn(const Headers& headers) const;
  // A number for a key, 0 for "": of its digest, so that it does not give the key away.
  static std::uint64_t NumberOf(std::string_view key);

 private:
  using Digest = std::array<unsigned char, 32>;

  static Digest DigestOf(std::string_view key);
  bool Knows(std::string_view key) const;

  std::vector<Digest> digests_;
  std::vector<std::string> public_paths_;
};

}  // namespace vivace::http
