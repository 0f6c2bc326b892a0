#include "api/reply.h"

#include <algorithm>
#include <utility>

#include "api/new_id.h"
#include "api/settings_json.h"
#include "api/slot_board.h"
#include "api/timings.h"
#include "base/clock.h"

namespace vivace {

std::vector<Segment> SegmentsOf(const Outcome& outcome) {
  std::vector<Segment> segments;
  const std::string_view text = outcome.text;
  std::size_t told = 0;
  const auto add_text = [&](std::size_t end) {
    if (end > told) segments.push_back({.text = text.substr(told, end - told)});
    told = end;
  };
  for (const ToolCall& call : outcome.calls) {
    add_text(call.at);
    segments.push_back({.text = "", .call = &call});
  }
  add_text(text.size());
  return segments;
}

Reply::Reply(Call& call, Generation generation, std::unique_ptr<ReplyFormat> format)
    : service_(call.service),
      writer_(call.writer),
      dialect_(call.dialect),
      generation_(std::move(generation)),
      format_(std::move(format)),
      arrival_ms_(NowMs()),
      client_left_(call.request.stop, [stop = stop_]() mutable { stop.request_stop(); }),
      tracks_(static_cast<std::size_t>(generation_.choices) *
              (1 + generation_.more_prompts.size())) {
  format_->generation_ = &generation_;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    tracks_[i].outcome.index = static_cast<std::int64_t>(i);
    tracks_[i].outcome.prompt = i / static_cast<std::size_t>(generation_.choices);
    if (generation_.tool_calls) tracks_[i].parser.emplace(generation_.tool_calls);
  }
}

Answer<void> Reply::Start() {
  settings_ = std::make_shared<const Json>(BriefSettings(generation_));
  // Events wait for the lock, so what they say follows the beginning of the stream.
  const std::lock_guard lock(mutex_);
  running_ = tracks_.size();
  std::vector<Track*> empty;
  for (std::size_t choice = 0; choice < tracks_.size(); ++choice) {
    if (format_->PromptOf(tracks_[choice].outcome).empty()) {
      empty.push_back(&tracks_[choice]);
      continue;
    }
    const auto submitted = Submit(choice);
    if (!submitted) {
      cancelled_ = true;  // those before it say no more
      stop_.request_stop();
      return submitted;
    }
  }
  if (generation_.stream) {
    // When the client has left already, the engine is told by its stop token.
    (void)writer_.Start(format_->Head());
    format_->Begin(out_);
    Send();
  }
  const GenerateTimings nothing;
  for (Track* track : empty) {
    OnDone(*track,
           {.reason = FinishReason::kLength, .stopping_word = "", .text = "", .timings = nothing});
  }
  Send();
  return {};
}

GenerateRequest Reply::RequestOf(std::size_t choice) const {
  const Outcome& outcome = tracks_[choice].outcome;
  GenerateRequest request = generation_.request;
  if (outcome.prompt > 0) request.prompt = format_->PromptOf(outcome);
  request.sampling.seed +=
      static_cast<std::uint32_t>(choice % static_cast<std::size_t>(generation_.choices));
  return request;
}

Answer<void> Reply::Submit(std::size_t choice) {
  const auto submitted = generation_.model->engine().Submit(
      RequestOf(choice),
      [self = shared_from_this(), choice](const Event& event) { self->On(choice, event); },
      stop_.get_token());
  if (!submitted) return Refusal(submitted.error());
  return {};
}

// Also for those whose answer nobody waits for any more: they run until their Done.
void Reply::ShowOnBoard(Outcome& outcome, const Event& event) {
  SlotBoard& board = generation_.model->slots();
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, AdmittedEvent>) {
          outcome.slot = board.Take(settings_, generation_.request.max_tokens);
        }
        std::int64_t evaluated = e.timings.prompt_tokens;
        if constexpr (std::is_same_v<E, AdmittedEvent>) evaluated = e.timings.cached_tokens;
        if constexpr (std::is_same_v<E, ProgressEvent>) evaluated = e.evaluated;
        if constexpr (std::is_same_v<E, DoneEvent>) {
          board.Leave(outcome.slot);
        } else {
          board.Update(outcome.slot, e.timings, evaluated);
        }
        if constexpr (std::is_same_v<E, TokenEvent>) {
          if (e.text.find('\n') != std::string_view::npos) board.NoteLineBreak(outcome.slot);
        }
      },
      event);
}

void Reply::On(std::size_t choice, const Event& event) {
  const std::lock_guard lock(mutex_);
  Track& track = tracks_[choice];
  if (!std::holds_alternative<PromptTokenEvent>(event)) ShowOnBoard(track.outcome, event);
  if (const auto* done = std::get_if<DoneEvent>(&event)) {
    service_.metrics.CountTokens(done->timings);
  }
  if (cancelled_) return;
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        track.outcome.timings = e.timings;
        if constexpr (std::is_same_v<E, ProgressEvent>) {
          if (generation_.stream && generation_.report_progress) {
            format_->Progress(track.outcome, e.evaluated, out_);
          }
        } else if constexpr (std::is_same_v<E, PromptTokenEvent>) {
          track.outcome.scores.push_back(e.choice);
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
  const bool failed = event.reason == FinishReason::kFailed;
  if (failed || event.reason == FinishReason::kCancelled) {
    cancelled_ = true;
    stop_.request_stop();  // the other choices
    const ApiError error = failed ? ErrorOfStatus(400, std::string(event.error))
                                  : ErrorOfStatus(503, "the request was cancelled");
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
  if (track.parser) {
    ToolCallEvents events;
    track.parser->Finish(event.reason == FinishReason::kLength, events);
    Tell(track, events, track.outcome.steps.size());
  }
  track.outcome.reason = event.reason;
  track.outcome.stopping_word = event.stopping_word;
  service_.metrics.ObserveDone(event.timings, NowMs() - arrival_ms_);
  if (generation_.stream) format_->End(track.outcome, out_);
  if (--running_ == 0) Finish();
}

void Reply::Flush(Track& track) {
  if (track.held_text.empty() && track.ready_steps == 0) return;
  Outcome& outcome = track.outcome;
  const auto first = outcome.steps.size();
  const auto ready = track.held_steps.begin() + static_cast<std::ptrdiff_t>(track.ready_steps);
  outcome.steps.insert(outcome.steps.end(), std::make_move_iterator(track.held_steps.begin()),
                       std::make_move_iterator(ready));
  track.held_steps.erase(track.held_steps.begin(), ready);
  track.ready_steps = 0;
  track.sent_ms = NowMs();
  const std::string text = std::exchange(track.held_text, {});
  if (!track.parser) {
    Say(track, text, first);
    return;
  }
  ToolCallEvents events;
  track.parser->Push(text, events);
  Tell(track, events, first);
}

void Reply::Say(Track& track, std::string_view text, std::size_t first_step) {
  Outcome& outcome = track.outcome;
  const std::size_t before = outcome.text.size();
  outcome.text += text;
  if (!generation_.stream) return;
  format_->Next({.outcome = outcome,
                 .text = std::string_view(outcome.text).substr(before),
                 .steps = std::span(outcome.steps).subspan(first_step)},
                out_);
}

void Reply::Tell(Track& track, const ToolCallEvents& events, std::size_t first_step) {
  Outcome& outcome = track.outcome;
  for (const ToolCallEvent& event : events) {
    if (event.kind == ToolCallEvent::Kind::kText) {
      Say(track, event.text, std::exchange(first_step, outcome.steps.size()));
    } else {
      TellCall(outcome, event);
    }
  }
  // Who asked for the tokens gets those of calls too.
  const bool wanted = generation_.request.logprobs > 0;
  if (wanted && first_step < outcome.steps.size()) Say(track, "", first_step);
}

void Reply::TellCall(Outcome& outcome, const ToolCallEvent& event) {
  if (event.kind == ToolCallEvent::Kind::kBegin) {
    outcome.calls.push_back(
        {.id = NewId("call_"), .name = event.text, .arguments = "", .at = outcome.text.size()});
    if (generation_.stream) format_->CallBegins(outcome, out_);
  } else if (event.kind == ToolCallEvent::Kind::kArguments) {
    outcome.calls.back().arguments += event.text;
    if (generation_.stream) format_->CallGrows(outcome, event.text, out_);
  } else {
    outcome.calls.back().complete = true;
    if (generation_.stream) format_->CallEnds(outcome, out_);
  }
}

void Reply::Finish() {
  std::vector<Outcome> outcomes;
  outcomes.reserve(tracks_.size());
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
