// Response: one whole answer; StreamHead: the beginning of an answer that comes in pieces.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "http/headers.h"

namespace vivace::http {

struct Response {
  int status = 200;
  std::string content_type = "application/json";  // empty: none is sent
  std::string body;
  Headers headers = {};
};

// What is written to keep an idle event stream open: clients and proxies give up after
// 60 to 300 s of silence. A comment, which every reader of events skips.
inline constexpr std::string_view kEventPing = ": \n\n";

struct StreamHead {
  int status = 200;
  std::string content_type = "text/event-stream";
  Headers headers = {};
  std::string ping{kEventPing};                             // empty: a silent stream stays silent
  std::optional<std::chrono::milliseconds> ping_time = {};  // instead of the server's
};

// A stream of JSON objects, one a line. No pings: readers parse every line.
StreamHead JsonLines();

// "data: ...\n\n", with "event: NAME\n" before it where a name is given. A line break in the
// data becomes a further data line, as the format has it.
std::string Event(std::string_view data, std::string_view name = {});

// "Not Found"; "Unknown" for a number without a name.
std::string_view ReasonPhrase(int status);

// {"error":{"code":404,"message":"..."}}: what an error looks like without a hook.
Response PlainError(int status, std::string_view message);

}  // namespace vivace::http
