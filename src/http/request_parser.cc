#include "http/request_parser.h"

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>

#include "base/ascii.h"

namespace vivace::http {
namespace {

namespace beast_http = boost::beast::http;
using boost::system::error_code;

ParseFault FaultOf(error_code error, std::size_t header_limit, std::size_t body_limit) {
  using Code = beast_http::error;
  if (error == Code::header_limit)
    return {431, fmt::format("the request's header is over {} bytes", header_limit)};
  if (error == Code::body_limit)
    return {413, fmt::format("the request's body is over {} bytes", body_limit)};
  if (error == Code::bad_version) return {505, "only HTTP/1.0 and HTTP/1.1 are spoken here"};
  return {400, "this is not an HTTP request: " + error.message()};
}

}  // namespace

struct RequestParser::Beast {
  beast_http::request_parser<beast_http::string_body> parser;
};

RequestParser::RequestParser(std::size_t header_limit, std::size_t body_limit)
    : header_limit_(header_limit), body_limit_(body_limit), beast_(std::make_unique<Beast>()) {
  beast_->parser.header_limit(static_cast<std::uint32_t>(header_limit));
  // The head is wanted even when the body it announces is too long: errors have a shape
  // that depends on the path. CheckHead looks at the length.
  beast_->parser.body_limit(boost::none);
}

RequestParser::~RequestParser() = default;

bool RequestParser::done() const { return head_done_ && !fault_ && beast_->parser.is_done(); }

std::size_t RequestParser::Feed(std::string_view bytes) {
  auto& parser = beast_->parser;
  std::size_t used = 0;
  while (!fault_ && !parser.is_done() && used < bytes.size()) {
    error_code error;
    used += parser.put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
    if (error == beast_http::error::need_more) break;
    if (error) {
      TakeHeadFields();
      fault_ = FaultOf(error, header_limit_, body_limit_);
    } else if (!head_done_ && parser.is_header_done()) {
      FinishHead();
      break;
    }
  }
  return used;
}

// What Beast has read so far; a fault further on does not take that back.
void RequestParser::TakeHeadFields() {
  if (head_done_) return;
  const auto& message = beast_->parser.get();
  head_.method = message.method_string();
  head_.headers = {};
  for (const auto& field : message)
    head_.headers.Add(std::string(field.name_string()), std::string(field.value()));
  if (Result<Target> target = ParseTarget(message.target())) head_.target = *std::move(target);
}

void RequestParser::FinishHead() {
  auto& parser = beast_->parser;
  TakeHeadFields();
  head_done_ = true;
  head_.http_1_0 = parser.get().version() == 10;
  head_.keep_alive = parser.keep_alive();
  head_.expects_continue = !head_.http_1_0 && head_.headers.Has("Expect");
  if (!parser.chunked()) head_.content_length = parser.content_length().value_or(0);
  fault_ = CheckHead();
  if (!fault_) parser.body_limit(std::uint64_t{body_limit_});
}

std::optional<ParseFault> RequestParser::CheckHead() const {
  const Headers& headers = head_.headers;
  const auto& message = beast_->parser.get();
  if (headers.Count("Host") > 1) return ParseFault{400, "the request has more than one Host"};
  if (!head_.http_1_0 && !headers.Has("Host"))
    return ParseFault{400, "the request has no Host, which HTTP/1.1 demands"};
  if (const Result<Target> target = ParseTarget(message.target()); !target)
    return ParseFault{400, target.error().message};
  if (headers.Has("Transfer-Encoding")) {
    if (head_.http_1_0) return ParseFault{400, "HTTP/1.0 has no Transfer-Encoding"};
    if (!EqualsIgnoreCase(Trim(headers.Get("Transfer-Encoding")), "chunked"))
      return ParseFault{501, "the only Transfer-Encoding known here is chunked"};
  }
  if (head_.expects_continue && !EqualsIgnoreCase(Trim(headers.Get("Expect")), "100-continue"))
    return ParseFault{417, "the only expectation known here is 100-continue"};
  if (head_.content_length.value_or(0) > body_limit_)
    return ParseFault{413, fmt::format("the request's body has {} bytes, the limit is {}",
                                       *head_.content_length, body_limit_)};
  return std::nullopt;
}

std::string RequestParser::TakeBody() { return std::move(beast_->parser.get().body()); }

}  // namespace vivace::http
