// Assets: files that live in memory, such as the web page, ready to be sent.
//
// Nothing here touches a disk, so no path in a request can reach one. Immutable once the
// server runs; requests are answered on the I/O thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "http/request.h"
#include "http/response.h"

namespace vivace::http {

struct Asset {
  std::string_view path;  // "/index.html", as asked for
  std::string_view content_type;
  std::string_view bytes;  // must outlive the Assets
  bool gzip = false;       // `bytes` are compressed; inflated for clients that take no gzip
  bool immutable = false;  // its path changes with its content, so it may be kept for ever
};

class Assets {
 public:
  // `content_security_policy` goes on every HTML page.
  explicit Assets(std::string content_security_policy = "default-src 'self'");

  void Add(const Asset& asset);
  bool empty() const { return entries_.empty(); }
  std::vector<std::string> paths() const;

  // What is at a path: 404 when there is nothing, 304 when the client has it already.
  // `request` says what the client takes and has.
  Response Answer(std::string_view path, const Request& request) const;

 private:
  struct Entry {
    Asset asset;
    std::string hash;  // of its bytes, for the ETag
  };

  std::string policy_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace vivace::http
