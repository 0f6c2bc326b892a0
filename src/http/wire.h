// The bytes of an answer's head, and the framing of a body that comes in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "http/headers.h"

namespace vivace::http {

enum class Framing : std::uint8_t {
  kLength,   // the length is in the head
  kChunked,  // HTTP/1.1
  kClose,    // HTTP/1.0: the end of the connection is the end of the body
};

struct HeadFacts {
  int status = 200;
  std::string_view content_type = {};
  Framing framing = Framing::kLength;
  std::size_t length = 0;
  bool keep_alive = true;
  bool http_1_0 = false;  // the client; it must be told when the connection stays
};

// Status line, header fields and the empty line. A field comes from the first list that has
// its name, except that Vary and Set-Cookie add up. A line break within a value, or anything
// else that could begin another field, becomes a space.
std::string HeadBytes(const HeadFacts& facts, std::initializer_list<const Headers*> lists);

// Appends one chunk; nothing for no bytes, which would end the body.
void AppendChunk(std::string& wire, std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace vivace::http
