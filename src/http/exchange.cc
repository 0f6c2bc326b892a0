#include "http/exchange.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "http/response_writer.h"

namespace vivace::http {

Exchange::Exchange(std::size_t max_waiting, std::function<void()> wake)
    : max_waiting_(max_waiting), wake_(std::move(wake)) {}

Result<void> Exchange::CheckPhase(Phase wanted) const {
  if (phase_ == wanted) return {};
  if (phase_ == Phase::kDetached || phase_ == Phase::kBroken)
    return Fail(ErrorKind::kCancelled, "the client has left");
  if (phase_ == Phase::kOpen)
    return Fail(ErrorKind::kBadInput, "the stream was not started before it was written to");
  return Fail(ErrorKind::kBadInput, "the answer was already given");
}

void Exchange::Wake() {
  if (std::exchange(woken_, true) || !wake_) return;
  wake_();
}

Result<void> Exchange::Send(Response response) {
  const std::scoped_lock lock(mutex_);
  VIVACE_RETURN_IF_ERROR(CheckPhase(Phase::kOpen));
  output_.whole = std::move(response);
  output_.finished = true;
  phase_ = Phase::kFinished;
  Wake();
  return {};
}

Result<void> Exchange::Start(StreamHead head) {
  const std::scoped_lock lock(mutex_);
  VIVACE_RETURN_IF_ERROR(CheckPhase(Phase::kOpen));
  output_.head = std::move(head);
  phase_ = Phase::kStreaming;
  Wake();
  return {};
}

Result<void> Exchange::Write(std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  VIVACE_RETURN_IF_ERROR(CheckPhase(Phase::kStreaming));
  // One large piece is fine on its own; what is not is one more behind a full queue.
  const std::size_t waiting = output_.bytes.size() + being_sent_;
  if (waiting > 0 && bytes.size() > max_waiting_ - std::min(waiting, max_waiting_)) {
    phase_ = Phase::kBroken;
    output_ = {};
    output_.overrun = true;
    Wake();
    return Fail(ErrorKind::kExhausted,
                fmt::format("the client reads too slowly: {} bytes wait for it, the limit is {}",
                            waiting + bytes.size(), max_waiting_));
  }
  output_.bytes += bytes;
  Wake();
  return {};
}

Result<void> Exchange::End() {
  const std::scoped_lock lock(mutex_);
  VIVACE_RETURN_IF_ERROR(CheckPhase(Phase::kStreaming));
  output_.finished = true;
  phase_ = Phase::kFinished;
  Wake();
  return {};
}

void Exchange::Abandon() {
  const std::scoped_lock lock(mutex_);
  if (phase_ != Phase::kOpen && phase_ != Phase::kStreaming) return;
  phase_ = Phase::kBroken;
  output_.abandoned = true;
  Wake();
}

Exchange::Output Exchange::Take() {
  const std::scoped_lock lock(mutex_);
  woken_ = false;
  being_sent_ = output_.bytes.size();
  return std::exchange(output_, {});
}

bool Exchange::finished() const {
  const std::scoped_lock lock(mutex_);
  return phase_ == Phase::kFinished;
}

void Exchange::Detach() {
  bool stop = false;
  {
    const std::scoped_lock lock(mutex_);
    stop = phase_ != Phase::kFinished && phase_ != Phase::kDetached;
    phase_ = Phase::kDetached;
    wake_ = nullptr;
    output_ = {};
  }
  // Not under the lock: callbacks may well use the writer.
  if (stop) stop_.request_stop();
}

// What every copy of a writer shares; its end is the end of the last copy.
struct ResponseWriter::LastOut {
  explicit LastOut(std::shared_ptr<Exchange> shared) : exchange(std::move(shared)) {}
  LastOut(const LastOut&) = delete;
  LastOut& operator=(const LastOut&) = delete;
  ~LastOut() { exchange->Abandon(); }

  std::shared_ptr<Exchange> exchange;
};

ResponseWriter::ResponseWriter(std::shared_ptr<Exchange> exchange)
    : last_out_(std::make_shared<LastOut>(std::move(exchange))) {}

Result<void> ResponseWriter::Send(Response response) const {
  return last_out_->exchange->Send(std::move(response));
}
Result<void> ResponseWriter::Start(StreamHead head) const {
  return last_out_->exchange->Start(std::move(head));
}
Result<void> ResponseWriter::Write(std::string_view bytes) const {
  return last_out_->exchange->Write(bytes);
}
Result<void> ResponseWriter::End() const { return last_out_->exchange->End(); }

}  // namespace vivace::http
