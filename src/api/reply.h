// Reply: puts the events of a request's choices together to its answer, streamed or whole.
//
// A ReplyFormat says how the answer looks in a dialect; there is one in each endpoint's
// file. All of its functions run under the reply's lock, most on the engine's thread
// between two steps: everyone waits for them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/endpoint.h"
#include "api/generation.h"
#include "chat/tool_calls.h"
#include "engine/request.h"
#include "http/response.h"

namespace vivace {

// A call of one of the request's tools.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  // JSON, an object; the beginning of one where it is not complete
  std::size_t at = 0;     // so much of the answer's text was before it
  bool complete = false;
};

// What a choice has come to.
struct Outcome {
  std::int64_t index = 0;       // of the choice, over all prompts
  std::size_t prompt = 0;       // which of them it answers
  std::int64_t slot = -1;       // on the model's board, once it runs
  std::string text;             // without calls
  std::vector<ToolCall> calls;  // the one that is coming is the last
  std::vector<Choice> steps;    // the tokens of text and calls
  std::vector<Choice> scores;   // of the prompt's tokens but the first, where asked for
  FinishReason reason = FinishReason::kStop;
  std::string stopping_word;
  GenerateTimings timings;
};

// What a stream says next.
struct Part {
  const Outcome& outcome;  // up to here
  std::string_view text;
  std::span<const Choice> steps;  // the tokens that came with it
};

// A stretch of an answer: a call, or text that is not empty.
struct Segment {
  std::string_view text;
  const ToolCall* call = nullptr;
};
// In the order in which the model wrote them. They point into `outcome`.
std::vector<Segment> SegmentsOf(const Outcome& outcome);

class ReplyFormat {
 public:
  virtual ~ReplyFormat() = default;
  ReplyFormat() = default;
  ReplyFormat(const ReplyFormat&) = delete;
  ReplyFormat& operator=(const ReplyFormat&) = delete;

  // The whole answer.
  virtual http::Response Whole(std::span<const Outcome> outcomes) = 0;

  // The pieces of a stream, appended to `out`.
  virtual http::StreamHead Head() { return {}; }
  virtual void Begin(std::string& /*out*/) {}
  virtual void Progress(const Outcome& /*outcome*/, std::int64_t /*evaluated*/,
                        std::string& /*out*/) {}
  virtual void Next(const Part& part, std::string& out) = 0;
  // Where the request has tools: outcome.calls.back() begins, grows by `arguments`, ends.
  // One that the limit cuts does not end.
  virtual void CallBegins(const Outcome& /*outcome*/, std::string& /*out*/) {}
  virtual void CallGrows(const Outcome& /*outcome*/, std::string_view /*arguments*/,
                         std::string& /*out*/) {}
  virtual void CallEnds(const Outcome& /*outcome*/, std::string& /*out*/) {}
  virtual void End(const Outcome& outcome, std::string& out) = 0;
  // After the end of all choices.
  virtual void Close(std::span<const Outcome> /*outcomes*/, std::string& /*out*/) {}
  virtual void Fail(const ApiError& error, std::string& out) = 0;

 protected:
  // What is being answered, in all functions above.
  const Generation& generation() const { return *generation_; }
  const std::vector<TokenId>& PromptOf(const Outcome& outcome) const {
    return outcome.prompt == 0 ? generation_->request.prompt
                               : generation_->more_prompts[outcome.prompt - 1];
  }

 private:
  friend class Reply;
  const Generation* generation_ = nullptr;
};

class Reply : public std::enable_shared_from_this<Reply> {
 public:
  Reply(Call& call, Generation generation, std::unique_ptr<ReplyFormat> format);

  // Submits the choices and opens the answer. When it fails nothing was sent.
  Answer<void> Start();

 private:
  // One choice on its way.
  struct Track {
    Outcome outcome;
    std::optional<ToolCallParser> parser;
    std::string held_text;           // not yet sent
    std::vector<Choice> held_steps;  // not yet sent, or whose text is held back
    std::size_t ready_steps = 0;     // of held_steps, that may be sent
    double sent_ms = 0;              // when the last part was
    double token_ms = 0;             // when the last token came
  };

  GenerateRequest RequestOf(std::size_t choice) const;
  Answer<void> Submit(std::size_t choice);
  void On(std::size_t choice, const Event& event);
  void ShowOnBoard(Outcome& outcome, const Event& event);
  void OnToken(Track& track, const TokenEvent& event);
  void OnDone(Track& track, const DoneEvent& event);
  void Flush(Track& track);
  void Say(Track& track, std::string_view text, std::size_t first_step);
  void Tell(Track& track, const ToolCallEvents& events, std::size_t first_step);
  void TellCall(Outcome& outcome, const ToolCallEvent& event);
  void Finish();
  void Send();

  Service& service_;
  http::ResponseWriter writer_;
  const Dialect dialect_;
  Generation generation_;
  std::unique_ptr<ReplyFormat> format_;
  const double arrival_ms_;
  std::shared_ptr<const Json> settings_;  // as the board shows them
  std::stop_source stop_;
  // Passes the client's leaving on to the engine.
  std::stop_callback<std::function<void()>> client_left_;

  std::mutex mutex_;  // guards all below
  std::vector<Track> tracks_;
  std::size_t running_ = 0;
  bool cancelled_ = false;
  std::string out_;  // of the stream, not yet written
};

}  // namespace vivace
