#include "api/reply.h"

#include <algorithm>
#include <utility>

#include "api/timings.h"
#include "base/clock.h"

namespace vivace {

Reply::Reply(Call& call, Generation generation, std::unique_ptr<ReplyFormat> format)
    : service_(call.service),
      writer_(call.writer),
      dialect_(call.dialect),
      generation_(std::move(generation)),
      format_(std::move(format)),
      arrival_ms_(NowMs()),
      client_left_(call.request.stop, [stop = stop_]() mutable { stop.request_stop(); }),
      tracks_(static_cast<std::size_t>(generation_.choices)) {
  format_->generation_ = &generation_;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    tracks_[i].outcome.index = static_cast<std::int64_t>(i);
  }
}

Answer<void> Reply::Start() {
  // Events wait for the lock, so what they say follows the beginning of the stream.
  const std::lock_guard lock(mutex_);
  for (std::size_t choice = 0; choice < tracks_.size(); ++choice) {
    GenerateRequest request = generation_.request;
    request.sampling.seed += static_cast<std::uint32_t>(choice);
    const auto submitted = generation_.model->engine().Submit(
        std::move(request),
        [self = shared_from_this(), choice](const Event& event) { self->On(choice, event); },
        stop_.get_token());
    if (!submitted) {
      cancelled_ = true;  // those before it say no more
      stop_.request_stop();
      return Refusal(submitted.error());
    }
    ++running_;
  }
  if (!generation_.stream) return {};
  // When the client has left already, the engine is told by its stop token.
  (void)writer_.Start(format_->Head());
  format_->Begin(out_);
  Send();
  return {};
}

void Reply::On(std::size_t choice, const Event& event) {
  const std::lock_guard lock(mutex_);
  if (cancelled_) return;
  Track& track = tracks_[choice];
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        track.outcome.timings = e.timings;
        if constexpr (std::is_same_v<E, ProgressEvent>) {
          if (generation_.stream && generation_.report_progress) {
            format_->Progress(track.outcome, e.evaluated, out_);
          }
        } else if constexpr (std::is_same_v<E, TokenEvent>) {
          OnToken(track, e);
        } else if constexpr (std::is_same_v<E, DoneEvent>) {
          OnDone(track, e);
        }
      },
      event);
  Send();
}

void Reply::OnToken(Track& track, const TokenEvent& event) {
  const double now_ms = NowMs();
  if (track.token_ms > 0) service_.metrics.ObserveGap(now_ms - track.token_ms);
  track.token_ms = now_ms;
  track.held_steps.push_back(event.choice);
  if (event.text.empty()) return;  // a part of a character, or perhaps of a stop string
  track.held_text += event.text;
  track.ready_steps = track.held_steps.size();
  const StreamCut& cut = generation_.cut;
  const bool enough = static_cast<std::int64_t>(track.ready_steps) >= cut.tokens;
  const bool late = cut.ms > 0 && now_ms - track.sent_ms >= cut.ms;
  if (enough || late) Flush(track);
}

void Reply::OnDone(Track& track, const DoneEvent& event) {
  if (event.reason == FinishReason::kCancelled) {
    cancelled_ = true;
    stop_.request_stop();  // the other choices
    const ApiError error = ErrorOfStatus(503, "the request was cancelled");
    if (!generation_.stream) {
      (void)writer_.Send(ErrorResponse(dialect_, error));
      return;
    }
    format_->Fail(error, out_);
    Send();
    (void)writer_.End();
    return;
  }
  track.held_text += event.text;
  // The tokens of a stop string are no part of the answer.
  if (event.reason == FinishReason::kStopString) track.held_steps.resize(track.ready_steps);
  track.ready_steps = track.held_steps.size();
  Flush(track);
  track.outcome.reason = event.reason;
  track.outcome.stopping_word = event.stopping_word;
  service_.metrics.ObserveDone(event.timings, NowMs() - arrival_ms_);
  if (generation_.stream) format_->End(track.outcome, out_);
  if (--running_ == 0) Finish();
}

void Reply::Flush(Track& track) {
  if (track.held_text.empty() && track.ready_steps == 0) return;
  Outcome& outcome = track.outcome;
  const std::size_t before = outcome.text.size();
  outcome.text += track.held_text;
  const auto first = outcome.steps.size();
  const auto ready = track.held_steps.begin() + static_cast<std::ptrdiff_t>(track.ready_steps);
  outcome.steps.insert(outcome.steps.end(), std::make_move_iterator(track.held_steps.begin()),
                       std::make_move_iterator(ready));
  track.held_steps.erase(track.held_steps.begin(), ready);
  track.held_text.clear();
  track.ready_steps = 0;
  track.sent_ms = NowMs();
  if (!generation_.stream) return;
  format_->Next({.outcome = outcome,
                 .text = std::string_view(outcome.text).substr(before),
                 .steps = std::span(outcome.steps).subspan(first)},
                out_);
}

void Reply::Finish() {
  std::vector<Outcome> outcomes;
  for (Track& track : tracks_) outcomes.push_back(std::move(track.outcome));
  if (generation_.stream) {
    format_->Close(outcomes, out_);
    Send();
    (void)writer_.End();
    return;
  }
  http::Response response = format_->Whole(outcomes);
  response.headers.Set("Server-Timing",
                       ServerTiming(outcomes.front().timings, generation_.preparation));
  (void)writer_.Send(std::move(response));
}

void Reply::Send() {
  if (out_.empty()) return;
  // Who reads too slowly loses the stream, and the engine the request.
  if (!writer_.Write(out_)) stop_.request_stop();
  out_.clear();
}

}  // namespace vivace
