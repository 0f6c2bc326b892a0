#include "measure/chat_answer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vivace {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxQuote = 160;
constexpr std::size_t kMaxErrorBody = std::size_t{64} << 10;

std::string Quote(std::string_view text) {
  std::string quote(text.substr(0, kMaxQuote));
  for (char& c : quote) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text.size() > kMaxQuote ? quote + "..." : quote;
}

// The field if it is there and the object is one.
const Json* Find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string TextOf(const Json& object, const char* name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_string() ? field->get<std::string>() : std::string();
}

std::int64_t CountOf(const Json& object, const char* name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_number_integer() ? field->get<std::int64_t>() : -1;
}

// The text of one event: of a chat's delta or of a plain completion.
std::string TextOfEvent(const Json& event) {
  const Json* choices = Find(event, "choices");
  if (choices == nullptr || !choices->is_array() || choices->empty()) return {};
  const Json& choice = choices->front();
  std::string text = TextOf(choice, "text");
  const Json* delta = Find(choice, "delta");
  if (delta == nullptr) return text;
  text += TextOf(*delta, "reasoning_content") + TextOf(*delta, "content");
  const Json* calls = Find(*delta, "tool_calls");
  return calls != nullptr && calls->is_array() && !calls->empty() ? text + calls->dump() : text;
}

}  // namespace

const char* TokenCountName(TokenCount from) {
  switch (from) {
    case TokenCount::kUsage:
      return "usage";
    case TokenCount::kTimings:
      return "timings";
    case TokenCount::kChunks:
      break;
  }
  return "chunks";
}

double ChatAnswer::rate() const {
  return tokens > 1 && last_ms > first_ms
             ? 1000 * static_cast<double>(tokens - 1) / (last_ms - first_ms)
             : 0;
}

std::string ServerSentence(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  if (const Json* error = Find(json, "error")) {
    if (error->is_string()) return Quote(error->get<std::string>());
    if (const std::string message = TextOf(*error, "message"); !message.empty())
      return Quote(message);
  }
  for (const char* name : {"message", "detail"}) {
    if (const std::string message = TextOf(json, name); !message.empty()) return Quote(message);
  }
  return Quote(body);
}

void AnswerReader::Reject(std::string problem) {
  if (answer_.error.empty()) answer_.error = std::move(problem);
}

void AnswerReader::TakeBytes(const HttpCall::Head& head, std::string_view bytes, double now_ms) {
  if (head.status != 200 || !head.content_type.starts_with("text/event-stream")) {
    if (body_.size() < kMaxErrorBody) body_ += bytes;
    return;
  }
  if (!events_.Take(bytes, [&](std::string_view data) { TakeEvent(data, now_ms); })) {
    Reject(fmt::format("an event is longer than {} bytes", EventReader::kMaxEventBytes));
  }
}

void AnswerReader::TakeEvent(std::string_view data, double now_ms) {
  ++event_;
  if (data == "[DONE]" || !answer_.error.empty()) return;
  const Json event = Json::parse(data, nullptr, false);
  if (!event.is_object()) {
    return Reject(
        fmt::format("event {} of the stream is not a JSON object: {}", event_, Quote(data)));
  }
  if (Find(event, "error") != nullptr) return Reject(ServerSentence(data));
  TakeCounts(event);
  const std::string text = TextOfEvent(event);
  if (text.empty()) return;
  if (answer_.chunks++ == 0) {
    answer_.first_ms = now_ms;
  } else {
    answer_.gaps_ms.push_back(now_ms - answer_.last_ms);
  }
  answer_.last_ms = now_ms;
  if (answer_.text.size() < kMaxTextBytes) answer_.text += text;
}

void AnswerReader::TakeCounts(const Json& event) {
  if (const Json* usage = Find(event, "usage")) {
    if (const std::int64_t tokens = CountOf(*usage, "completion_tokens"); tokens >= 0) {
      counted_tokens_ = tokens;
      answer_.counted = TokenCount::kUsage;
    }
    answer_.prompt_tokens = std::max(answer_.prompt_tokens, CountOf(*usage, "prompt_tokens"));
  }
  const Json* timings = Find(event, "timings");
  if (timings == nullptr || answer_.counted == TokenCount::kUsage) return;
  if (const std::int64_t tokens = CountOf(*timings, "predicted_n"); tokens >= 0) {
    counted_tokens_ = tokens;
    answer_.counted = TokenCount::kTimings;
  }
}

void AnswerReader::TakeEnd(const HttpCall::End& end) {
  events_.Finish([&](std::string_view data) { TakeEvent(data, answer_.last_ms); });
  answer_.tokens = counted_tokens_ >= 0 ? counted_tokens_ : answer_.chunks;
  const HttpCall::Head& head = end.head;
  if (!answer_.error.empty()) return;
  if (head.status != 0 && head.status != 200) {
    const std::string sentence = ServerSentence(body_);
    return Reject(fmt::format("HTTP {}{}{}", head.status, sentence.empty() ? "" : ": ", sentence));
  }
  if (!end.problem.empty()) return Reject(end.problem);
  if (!head.content_type.starts_with("text/event-stream")) {
    return Reject(fmt::format("the answer is no event stream but \"{}\": {}", head.content_type,
                              Quote(body_)));
  }
  if (answer_.chunks == 0) Reject("the stream ended without any text");
}

}  // namespace vivace
