#include "http/wire.h"

#include <algorithm>
#include <ctime>
#include <iterator>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/ascii.h"
#include "http/response.h"

namespace vivace::http {
namespace {

bool IsTokenCharacter(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kMarks.find(c) != std::string_view::npos;
}

void AppendField(std::string& wire, std::string_view name, std::string_view value) {
  if (name.empty() || !std::ranges::all_of(name, IsTokenCharacter)) return;
  wire.append(name).append(": ");
  std::ranges::transform(value, std::back_inserter(wire), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f ? ' ' : c;
  });
  wire.append("\r\n");
}

// The fields that describe the connection and the body are ours alone.
bool IsOurs(std::string_view name) {
  return EqualsIgnoreCase(name, "Content-Length") || EqualsIgnoreCase(name, "Connection") ||
         EqualsIgnoreCase(name, "Transfer-Encoding") || EqualsIgnoreCase(name, "Date");
}

bool AddsUp(std::string_view name) {
  return EqualsIgnoreCase(name, "Vary") || EqualsIgnoreCase(name, "Set-Cookie");
}

// 204 and 304 have no body, and so no length either.
bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

// Formats once a second. The I/O thread of each server has its own.
const std::string& DateNow() {
  thread_local std::time_t second = 0;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now != second) {
    second = now;
    text = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(now));
  }
  return text;
}

}  // namespace

std::string HeadBytes(const HeadFacts& facts, std::initializer_list<const Headers*> lists) {
  std::string wire = fmt::format("HTTP/1.1 {} {}\r\n", facts.status, ReasonPhrase(facts.status));
  AppendField(wire, "Date", DateNow());
  if (!facts.content_type.empty()) AppendField(wire, "Content-Type", facts.content_type);
  if (HasBody(facts.status)) {
    if (facts.framing == Framing::kLength)
      AppendField(wire, "Content-Length", std::to_string(facts.length));
    if (facts.framing == Framing::kChunked) AppendField(wire, "Transfer-Encoding", "chunked");
  }
  if (!facts.keep_alive) AppendField(wire, "Connection", "close");
  if (facts.keep_alive && facts.http_1_0) AppendField(wire, "Connection", "keep-alive");
  for (const auto* const* list = lists.begin(); list != lists.end(); ++list) {
    for (const Header& field : **list) {
      const bool given = std::any_of(
          lists.begin(), list, [&](const Headers* earlier) { return earlier->Has(field.name); });
      if (!IsOurs(field.name) && (!given || AddsUp(field.name)))
        AppendField(wire, field.name, field.value);
    }
  }
  return wire += "\r\n";
}

void AppendChunk(std::string& wire, std::string_view bytes) {
  if (bytes.empty()) return;
  fmt::format_to(std::back_inserter(wire), "{:x}\r\n", bytes.size());
  wire.append(bytes).append("\r\n");
}

}  // namespace vivace::http
