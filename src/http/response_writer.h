// ResponseWriter: the handle by which a handler answers, at once or later, from any thread.
//
// Copies are the same answer. Either one Send, or one Start, then Writes, then End. When
// the last copy goes away before that is done, the client gets a 500, or a stream that
// visibly breaks off. Nothing here blocks: what a slow client has not read yet is kept, up
// to a limit beyond which the stream is cancelled.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/response.h"

namespace vivace::http {

class Exchange;

class ResponseWriter {
 public:
  explicit ResponseWriter(std::shared_ptr<Exchange> exchange);

  // All four fail with kCancelled once the client has left or the server stops, and with
  // kBadInput when called out of order.
  Result<void> Send(Response response) const;
  // The head is sent at once, so that clients know that they are being served.
  Result<void> Start(StreamHead head) const;
  // kExhausted, and the stream is over, when too much waits for the client already.
  Result<void> Write(std::string_view bytes) const;
  Result<void> End() const;

 private:
  struct LastOut;
  std::shared_ptr<LastOut> last_out_;
};

}  // namespace vivace::http
