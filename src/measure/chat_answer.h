// ChatAnswer: what one streamed answer of a chat server took, and AnswerReader, which finds
// that out from the bytes and the moments at which they came.
//
// Times are milliseconds since the request was due. A first text is the first event with
// text, reasoning or a tool call in it: a head or an empty event is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "measure/event_reader.h"
#include "measure/http_loop.h"

namespace vivace {

// Where the number of tokens is from.
enum class TokenCount : std::uint8_t { kChunks, kUsage, kTimings };
const char* TokenCountName(TokenCount from);  // "chunks", "usage", "timings"

struct ChatAnswer {
  double first_ms = 0;             // to the first text
  double last_ms = 0;              // to the last one
  std::vector<double> gaps_ms;     // between one text and the next
  std::int64_t chunks = 0;         // events with text
  std::int64_t tokens = 0;         // of the answer
  std::int64_t prompt_tokens = 0;  // 0: not said
  TokenCount counted = TokenCount::kChunks;
  std::string text;
  std::string error;  // "" for a whole answer

  // Tokens a second between the first text and the last; 0 where there is no such time.
  double rate() const;
};

class AnswerReader {
 public:
  // Texts beyond that are counted but not kept.
  static constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;

  void TakeBytes(const HttpCall::Head& head, std::string_view bytes, double now_ms);
  void TakeEnd(const HttpCall::End& end);

  // After TakeEnd.
  const ChatAnswer& answer() const { return answer_; }

 private:
  void TakeEvent(std::string_view data, double now_ms);
  void TakeCounts(const nlohmann::json& event);
  void Reject(std::string problem);

  EventReader events_;
  ChatAnswer answer_;
  std::string body_;        // of an answer that is no stream
  std::int64_t event_ = 0;  // number of the event that is read
  std::int64_t counted_tokens_ = -1;
};

// The sentence of an error that a server has sent, in any of the usual shapes; else the
// text itself, cut short.
std::string ServerSentence(std::string_view body);

}  // namespace vivace
