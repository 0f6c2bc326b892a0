#include "http/response.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

namespace vivace::http {
namespace {

constexpr std::array<std::pair<int, std::string_view>, 34> kReasons = {{
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
}};

}  // namespace

StreamHead JsonLines() { return {.content_type = "application/x-ndjson", .ping = ""}; }

std::string Event(std::string_view data, std::string_view name) {
  std::string event;
  event.reserve(data.size() + name.size() + 24);
  if (!name.empty()) event.append("event: ").append(name).append("\n");
  while (true) {
    const std::size_t end = std::min(data.find('\n'), data.size());
    event.append("data: ").append(data.substr(0, end)).append("\n");
    if (end == data.size()) break;
    data.remove_prefix(end + 1);
  }
  return event += '\n';
}

std::string_view ReasonPhrase(int status) {
  const auto* const found =
      std::ranges::find(kReasons, status, [](const auto& r) { return r.first; });
  return found == kReasons.end() ? "Unknown" : found->second;
}

Response PlainError(int status, std::string_view message) {
  const nlohmann::json body = {{"error", {{"code", status}, {"message", message}}}};
  return {.status = status,
          .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

}  // namespace vivace::http
