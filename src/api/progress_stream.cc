#include "api/progress_stream.h"

#include <utility>

#include "base/clock.h"

namespace vivace {

ProgressStream::ProgressStream(http::ResponseWriter writer, bool stream)
    : writer_(std::move(writer)), stream_(stream) {
  if (stream_) (void)writer_.Start(http::JsonLines());
}

// A client that has left cancels by its stop token, so writes need no check.
void ProgressStream::Line(const Json& json) {
  if (stream_) (void)writer_.Write(Dump(json) + "\n");
}

void ProgressStream::Status(const std::string& status) { Line({{"status", status}}); }

void ProgressStream::Succeed() {
  if (!stream_) {
    (void)writer_.Send(JsonResponse({{"status", "success"}}));
    return;
  }
  Status("success");
  (void)writer_.End();
}

void ProgressStream::Fail(const ApiError& error) {
  if (!stream_) {
    (void)writer_.Send(ErrorResponse(Dialect::kOllama, error));
    return;
  }
  Line(ErrorJson(Dialect::kOllama, error));
  (void)writer_.End();
}

PullEvents ProgressStream::Events(const CatalogueEntry& entry, std::stop_token stop) {
  constexpr double kEveryMs = 200;
  // Clients tell files apart by it.
  std::string digest = entry.sha256.empty() ? entry.file : "sha256:" + entry.sha256;
  return {.say = [this](const std::string& line) { Status(line); },
          .progress =
              [this, file = entry.file, digest = std::move(digest)](std::uint64_t done,
                                                                    std::uint64_t total) {
                const double now_ms = NowMs();
                const bool last = total > 0 && done >= total;
                if (!last && now_ms - shown_ms_ < kEveryMs) return;
                shown_ms_ = now_ms;
                Json line = {{"status", "pulling " + file}, {"digest", digest}};
                if (total > 0) line["total"] = total;
                line["completed"] = done;
                Line(line);
              },
          .stop = std::move(stop)};
}

}  // namespace vivace
