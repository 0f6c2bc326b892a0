#include "http/api_keys.h"

#include <algorithm>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/ascii.h"
#include "base/check.h"

namespace vivace::http {

ApiKeys::ApiKeys(const std::vector<std::string>& keys, std::vector<std::string> public_paths)
    : public_paths_(std::move(public_paths)) {
  for (const std::string& key : keys) digests_.push_back(DigestOf(key));
}

ApiKeys::Digest ApiKeys::DigestOf(std::string_view key) {
  Digest digest{};
  const int done =
      EVP_Digest(key.data(), key.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  VIVACE_CHECK(done == 1, "OpenSSL has SHA-256");
  return digest;
}

// Looks at every key, so that the time does not tell which one came close.
bool ApiKeys::Knows(std::string_view key) const {
  const Digest given = DigestOf(key);
  bool known = false;
  for (const Digest& digest : digests_)
    known |= CRYPTO_memcmp(digest.data(), given.data(), digest.size()) == 0;
  return known;
}

bool ApiKeys::Allow(std::string_view path, const Headers& headers) const {
  if (digests_.empty()) return true;
  const bool is_public = std::ranges::any_of(public_paths_, [&](const std::string& open) {
    return open.ends_with('*') ? path.starts_with(std::string_view(open).substr(0, open.size() - 1))
                               : path == open;
  });
  return is_public || !KeyIn(headers).empty();
}

std::string ApiKeys::KeyIn(const Headers& headers) const {
  for (const Header& field : headers) {
    constexpr std::string_view kScheme = "bearer ";
    const std::string_view value = field.value;
    std::string_view key;
    if (EqualsIgnoreCase(field.name, "x-api-key")) {
      key = Trim(value);
    } else if (EqualsIgnoreCase(field.name, "authorization") &&
               EqualsIgnoreCase(value.substr(0, kScheme.size()), kScheme)) {
      key = Trim(value.substr(kScheme.size()));
    }
    if (!key.empty() && Knows(key)) return std::string(key);
  }
  return {};
}

std::uint64_t ApiKeys::NumberOf(std::string_view key) {
  if (key.empty()) return 0;
  const Digest digest = DigestOf(key);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof(number); ++i) number = number << 8 | digest[i];
  return number;
}

}  // namespace vivace::http
