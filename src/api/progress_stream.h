// ProgressStream: the lines by which Ollama's slow endpoints tell how far they are.
//
// Where the client wants no stream, only the last line is sent, as the answer. For one
// thread at a time.
#pragma once

#include <stop_token>
#include <string>

#include "api/errors.h"
#include "http/response_writer.h"
#include "hub/download.h"

namespace vivace {

class ProgressStream {
 public:
  ProgressStream(http::ResponseWriter writer, bool stream);

  void Status(const std::string& status);
  // "success", and the end.
  void Succeed();
  void Fail(const ApiError& error);

  // For hub's Pull: lines on where the file comes from, and a few a second on how much of
  // it is there.
  PullEvents Events(const CatalogueEntry& entry, std::stop_token stop);

 private:
  void Line(const Json& json);

  http::ResponseWriter writer_;
  bool stream_;
  double shown_ms_ = 0;
};

}  // namespace vivace
