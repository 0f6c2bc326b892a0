// Fuzzes what stands between a socket and a handler: the parser, the gate and the answer's
// head. The first byte says in what pieces the rest arrives; how the bytes are cut may not
// change what comes of them.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/gate.h"
#include "http/wire.h"

namespace {

using vivace::http::Gate;
using vivace::http::RequestParser;

constexpr std::size_t kHeaderLimit = 2048;
constexpr std::size_t kBodyLimit = 512;

const Gate& TheGate() {
  static const vivace::http::ServerOptions options = {.api_keys = {"key"},
                                                      .public_paths = {"/assets/*"}};
  static const vivace::http::Router router = [] {
    vivace::http::Router routes;
    routes.Add("GET", "/assets/*", [](auto&&...) {});
    routes.Add("POST", "/v1/{what}", [](auto&&...) {});
    return routes;
  }();
  static const Gate gate(options, router);
  return gate;
}

// A status, or 200 and the body; empty for a request that has not ended.
std::string Parse(std::string_view bytes, std::size_t piece) {
  RequestParser parser(kHeaderLimit, kBodyLimit);
  std::string waiting;
  while (!bytes.empty() && !parser.done() && !parser.fault()) {
    waiting += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    for (std::size_t used = 1; used > 0;) {
      used = parser.Feed(waiting);
      if (used > waiting.size()) std::abort();
      waiting.erase(0, used);
    }
  }
  if (parser.head_done() || parser.fault()) {
    const Gate::Admission admission = TheGate().Admit(parser.head(), parser.fault(), true);
    if (!admission.answer == (admission.handler == nullptr)) std::abort();
    if (parser.fault() && !admission.answer) std::abort();
    const std::string head = vivace::http::HeadBytes({.status = 400}, {&admission.headers});
    if (head.find("\r\n\r\n") != head.size() - 4) std::abort();
  }
  if (parser.fault()) return std::to_string(parser.fault()->status);
  if (!parser.done()) return "";
  std::string body = parser.TakeBody();
  if (body.size() > kBodyLimit) std::abort();
  return "200 " + body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = Parse(bytes, bytes.size());
  const std::string pieces = Parse(bytes, 1 + data[0] % 64);
  // A header over its limit may be cut off at another byte; a good request never differs.
  if (whole.starts_with("200") && whole != pieces) std::abort();
  if (pieces.starts_with("200") && whole != pieces) std::abort();
  return 0;
}
