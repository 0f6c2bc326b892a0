#include "http/assets.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/ascii.h"
#include "http/gunzip.h"

namespace vivace::http {
namespace {

// Half of a SHA-256 is more than enough to tell two versions apart.
std::string HashOf(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string hash;
  for (std::size_t at = 0; at < 16; ++at) hash += fmt::format("{:02x}", digest[at]);
  return hash;
}

// Whether the client takes gzip: named, and not with a weight of zero.
bool TakesGzip(std::string_view accept) {
  while (!accept.empty()) {
    const std::size_t comma = std::min(accept.find(','), accept.size());
    const std::string_view item = accept.substr(0, comma);
    accept.remove_prefix(std::min(comma + 1, accept.size()));
    const std::size_t semicolon = std::min(item.find(';'), item.size());
    if (!EqualsIgnoreCase(Trim(item.substr(0, semicolon)), "gzip")) continue;
    const std::string_view weight = Trim(item.substr(std::min(semicolon + 1, item.size())));
    return !weight.starts_with("q=0") ||
           weight.find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

// A proxy that recodes the body may have put "W/" before the tag; that is still a match.
bool Matches(std::string_view if_none_match, std::string_view etag) {
  return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

}  // namespace

Assets::Assets(std::string content_security_policy) : policy_(std::move(content_security_policy)) {}

void Assets::Add(const Asset& asset) {
  entries_.insert_or_assign(std::string(asset.path), Entry{asset, HashOf(asset.bytes)});
}

std::vector<std::string> Assets::paths() const {
  std::vector<std::string> paths;
  paths.reserve(entries_.size());
  for (const auto& [path, entry] : entries_) paths.push_back(path);
  return paths;
}

Response Assets::Answer(std::string_view path, const Request& request) const {
  const auto found = entries_.find(path);
  if (found == entries_.end()) return PlainError(404, "there is no such file");
  const auto& [asset, hash] = found->second;
  const bool as_gzip = asset.gzip && TakesGzip(request.headers.Get("Accept-Encoding"));
  // A strong tag names the very bytes, so the two codings have two.
  const std::string etag = fmt::format("\"{}{}\"", hash, as_gzip ? "-gzip" : "");
  Response response{.content_type = std::string(asset.content_type), .body = ""};
  Headers& headers = response.headers;
  headers.Add("ETag", etag);
  headers.Add("Cache-Control",
              asset.immutable ? "public, max-age=31536000, immutable" : "no-cache");
  headers.Add("X-Content-Type-Options", "nosniff");
  headers.Add("Referrer-Policy", "no-referrer");
  if (asset.content_type.starts_with("text/html")) headers.Add("Content-Security-Policy", policy_);
  if (asset.gzip) headers.Add("Vary", "Accept-Encoding");
  if (Matches(request.headers.Get("If-None-Match"), etag)) {
    response.status = 304;
    return response;
  }
  if (as_gzip) headers.Add("Content-Encoding", "gzip");
  if (asset.gzip && !as_gzip) {
    auto plain = Gunzip(asset.bytes);
    if (!plain) return PlainError(500, plain.error().message);
    response.body = *std::move(plain);
  } else {
    response.body = asset.bytes;
  }
  return response;
}

}  // namespace vivace::http
