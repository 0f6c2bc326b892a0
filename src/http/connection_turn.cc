// One request and its answer: the part of Connection between the parser and the handler.

#include <utility>

#include <boost/asio/post.hpp>

#include "http/connection.h"
#include "http/request_id.h"
#include "http/wire.h"

namespace vivace::http {
namespace {

double MsBetween(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// Events must not be held back by a proxy that gathers or compresses.
const Headers& StreamHeaders() {
  static const Headers headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
  return headers;
}

bool HasNoBody(int status) { return status == 204 || status == 304; }

}  // namespace

asio::awaitable<bool> Connection::ServeOne() {
  RequestParser parser(limits_.header_bytes, limits_.body_bytes);
  std::optional<ParseFault> late;
  if (!co_await ReadHead(parser, late)) co_return false;
  sent_ = 0;
  first_byte_.reset();
  const RequestHead& head = parser.head();
  Turn turn{.head = head, .id = RequestId(head.headers.Get("X-Request-Id"))};
  Gate::Admission admission = shared_.gate.Admit(head, late ? late : parser.fault(), loopback_);
  turn.headers = std::move(admission.headers);
  turn.headers.Add("X-Request-Id", turn.id);

  if (admission.handler != nullptr) {
    if (!co_await ReadBody(parser, late)) {
      Log(turn);
      co_return false;
    }
    if (!late) late = parser.fault();
    if (late) admission.answer = shared_.gate.ErrorFor(head, late->status, late->message);
  } else {
    Feed(parser);  // a body that is here already need not cost the connection
  }
  unread_ = !parser.done();
  turn.keep_alive = head.keep_alive && !unread_ && !shared_.connections.draining();

  bool complete = false;
  if (admission.answer) {
    complete = co_await SendWhole(turn, *std::move(admission.answer));
  } else {
    Request request{.method = head.method,
                    .path = head.target.path,
                    .segments = std::move(admission.segments),
                    .query = head.target.query,
                    .headers = head.headers,
                    .api_key = std::move(admission.api_key),
                    .body = parser.TakeBody(),
                    .peer = peer_,
                    .id = turn.id,
                    .received = turn.received,
                    .stop = {}};
    complete = co_await Ask(*admission.handler, turn, std::move(request));
  }
  Log(turn);
  // A stream that broke off must not look as if it had ended.
  if (!complete) Abort();
  co_return complete&& turn.keep_alive && !shared_.connections.draining();
}

asio::awaitable<bool> Connection::Ask(const Handler& handler, Turn& turn, Request request) {
  auto wake = [executor = transport_.executor(), weak = weak_from_this()] {
    asio::post(executor, [weak] {
      if (const auto self = weak.lock()) self->wake_.Notify();
    });
  };
  exchange_ = std::make_shared<Exchange>(limits_.stream_bytes, std::move(wake));
  request.stop = exchange_->stop_token();
  handler(std::move(request), ResponseWriter(exchange_));
  const bool complete = co_await SendFromExchange(turn);
  exchange_->Detach();
  exchange_.reset();
  co_return complete;
}

asio::awaitable<bool> Connection::SendWhole(Turn& turn, Response response) {
  turn.status = response.status;
  const HeadFacts facts{.status = response.status,
                        .content_type = response.content_type,
                        .framing = Framing::kLength,
                        .length = response.body.size(),
                        .keep_alive = turn.keep_alive,
                        .http_1_0 = turn.head.http_1_0};
  const std::string head =
      HeadBytes(facts, {&turn.headers, &response.headers, &shared_.options.default_headers});
  if (turn.head.method == "HEAD" || HasNoBody(response.status)) response.body.clear();
  co_return co_await WriteAll(head, response.body);
}

std::string Connection::StreamHeadBytes(Turn& turn, const StreamHead& head) const {
  turn.status = head.status;
  turn.streaming = true;
  turn.ping = head.ping;
  turn.ping_time = head.ping_time.value_or(limits_.ping_time);
  // HTTP/1.0 knows the end of such a body by the end of the connection.
  turn.keep_alive = turn.keep_alive && !turn.head.http_1_0;
  const HeadFacts facts{.status = head.status,
                        .content_type = head.content_type,
                        .framing = turn.head.http_1_0 ? Framing::kClose : Framing::kChunked,
                        .keep_alive = turn.keep_alive,
                        .http_1_0 = turn.head.http_1_0};
  return HeadBytes(
      facts, {&turn.headers, &head.headers, &StreamHeaders(), &shared_.options.default_headers});
}

void Connection::AppendBody(const Turn& turn, std::string_view bytes, std::string& wire) const {
  if (turn.head.http_1_0) {
    wire += bytes;
  } else {
    AppendChunk(wire, bytes);
  }
}

// The bytes for what came from the handler, or for a ping when it is due.
std::string Connection::WireBytes(Turn& turn, const Exchange::Output& output) const {
  std::string wire;
  if (output.head) wire = StreamHeadBytes(turn, *output.head);
  if (turn.head.method == "HEAD") return wire;
  AppendBody(turn, output.bytes, wire);
  if (output.finished && !turn.head.http_1_0) wire += kLastChunk;
  if (wire.empty() && Clock::now() >= turn.ping_at) AppendBody(turn, turn.ping, wire);
  return wire;
}

asio::awaitable<bool> Connection::SendFromExchange(Turn& turn) {
  while (true) {
    Exchange::Output output = exchange_->Take();
    if (output.overrun || (output.abandoned && turn.streaming)) co_return false;
    if (output.abandoned)
      output.whole = shared_.gate.ErrorFor(turn.head, 500, "the request was left unanswered");
    if (output.whole) co_return co_await SendWhole(turn, *std::move(output.whole));
    const std::string wire = WireBytes(turn, output);
    if (!wire.empty()) {
      if (!co_await WriteAll(wire, {})) co_return false;
      if (!turn.ping.empty()) turn.ping_at = Clock::now() + turn.ping_time;
    }
    if (output.finished || (turn.streaming && turn.head.method == "HEAD")) co_return true;
    if (peer_gone_) co_return false;
    co_await wake_.Wait(turn.ping_at);
  }
}

void Connection::Log(const Turn& turn) const {
  if (!shared_.options.access_log) return;
  shared_.options.access_log(
      {.time = turn.time,
       .id = turn.id,
       .peer = peer_,
       .method = turn.head.method,
       .path = turn.head.target.path,
       .status = turn.status,
       .bytes = sent_,
       .duration_ms = MsBetween(turn.received, Clock::now()),
       .first_byte_ms = first_byte_ ? MsBetween(turn.received, *first_byte_) : 0});
}

}  // namespace vivace::http
