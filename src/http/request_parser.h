// RequestParser: bytes of a connection in, one checked request out.
//
// Wraps Beast's parser, which knows the grammar; here are the limits and the rules by
// which two servers in a row could otherwise disagree about where a request ends. No
// sockets, no time: a table or a fuzzer can drive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/headers.h"
#include "http/target.h"

namespace vivace::http {

struct RequestHead {
  std::string method;
  Target target;
  Headers headers;
  bool http_1_0 = false;
  bool keep_alive = false;
  bool expects_continue = false;
  std::optional<std::uint64_t> content_length = {};  // nothing for a chunked body
};

// Why a request cannot be served, as a status and words for its sender.
struct ParseFault {
  int status;
  std::string message;
};

class RequestParser {
 public:
  RequestParser(std::size_t header_limit, std::size_t body_limit);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Returns how many of the bytes were used; the rest is to be given again, with more behind
  // it. Stops after the head, and again after the body. Uses nothing once done or at fault.
  std::size_t Feed(std::string_view bytes);

  bool head_done() const { return head_done_; }
  bool done() const;
  const std::optional<ParseFault>& fault() const { return fault_; }

  // Whole once head_done; after an earlier fault, as far as it was understood.
  const RequestHead& head() const { return head_; }
  std::string TakeBody();

 private:
  struct Beast;

  void FinishHead();
  std::optional<ParseFault> CheckHead() const;
  void TakeHeadFields();

  const std::size_t header_limit_;
  const std::size_t body_limit_;
  std::unique_ptr<Beast> beast_;
  RequestHead head_;
  bool head_done_ = false;
  std::optional<ParseFault> fault_;
};

}  // namespace vivace::http
