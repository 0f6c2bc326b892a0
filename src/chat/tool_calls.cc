#include "chat/tool_calls.h"

#include <algorithm>
#include <array>

namespace vivace {
namespace {

using Kind = ToolCallEvent::Kind;
using Status = CallReader::Status;

constexpr std::string_view kOpenTag = "<tool_call>";
constexpr std::string_view kCloseTag = "</tool_call>";
constexpr std::string_view kCloseFence = "```";
constexpr std::array<std::string_view, 4> kOpenFences = {"```json\n", "```\n", "```xml\n",
                                                         "```tool_call\n"};

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

void ToolCallParser::Push(std::string_view text, ToolCallEvents& events) {
  for (const char c : text) {
    switch (state_) {
      case State::kIdle:
        PushIdle(c, events);
        break;
      case State::kText:
        PushText(c, events);
        break;
      case State::kWord:
        PushWord(c, events);
        break;
      case State::kOpening:
        PushOpening(c, events);
        break;
      case State::kObject:
        PushObject(c, events);
        break;
      case State::kIgnore:
        return;
    }
  }
}

void ToolCallParser::PushIdle(char c, ToolCallEvents& events) {
  // Around calls there is space, and what closes the form that they stand in.
  const bool closes = c == '}' || c == ';' || (array_ && (c == ',' || c == ']'));
  if (seen_ && (IsSpace(c) || closes)) return;
  if (IsSpace(c)) {
    held_ += c;
  } else if (c == '{') {
    OpenObject(c, events);
  } else if (c == '[' && !array_) {
    held_ += c;
    array_ = true;
    state_ = State::kOpening;
  } else if (c == '<' || c == '`') {
    BeginWord(c, false);
  } else {
    GiveHeld(events);
    PushText(c, events);
  }
}

void ToolCallParser::PushText(char c, ToolCallEvents& events) {
  const bool quoted = in_fence_ || (held_.empty() && last_ == '`');
  if (c == '<' && !quoted) {
    BeginWord(c, true);
    return;
  }
  held_ += c;
  if (!IsSpace(c)) GiveHeld(events);  // space waits: before a call it says nothing
}

// What may stand where the word began.
std::vector<std::string_view> ToolCallParser::Words() const {
  std::vector<std::string_view> words = {kOpenTag};
  if (only_tag_) return words;
  if (seen_) words.push_back(kCloseTag);
  if (fenced_) {
    words.push_back(kCloseFence);
  } else {
    words.insert(words.end(), kOpenFences.begin(), kOpenFences.end());
  }
  return words;
}

void ToolCallParser::BeginWord(char c, bool only_tag) {
  only_tag_ = only_tag;
  held_ += c;
  word_ = c;
  state_ = State::kWord;
}

void ToolCallParser::PushWord(char c, ToolCallEvents& events) {
  word_ += c;
  const auto words = Words();
  const auto found =
      std::ranges::find_if(words, [&](std::string_view word) { return word.starts_with(word_); });
  if (found == words.end()) {
    GiveHeld(events);
    PushText(c, events);
    return;
  }
  held_ += c;
  if (word_ == *found) EndWord(*found);
}

void ToolCallParser::EndWord(std::string_view word) {
  state_ = State::kOpening;
  if (word == kOpenTag) {
    tagged_ = true;
  } else if (word == kCloseTag || word == kCloseFence) {
    (word == kCloseTag ? tagged_ : fenced_) = false;
    held_.clear();
    state_ = State::kIdle;
  } else {
    fenced_ = true;
  }
}

void ToolCallParser::PushOpening(char c, ToolCallEvents& events) {
  if (IsSpace(c)) {
    held_ += c;
  } else if (c == '{') {
    OpenObject(c, events);
  } else if (c == '[' && !array_) {
    held_ += c;
    array_ = true;
  } else if (c == '<' && fenced_ && !tagged_) {
    BeginWord(c, true);
  } else {
    GiveHeld(events);
    PushText(c, events);
  }
}

void ToolCallParser::OpenObject(char c, ToolCallEvents& events) {
  std::string_view terminator;
  if (fenced_) terminator = kCloseFence;
  if (tagged_) terminator = kCloseTag;
  reader_.emplace(options_->names, !tagged_, terminator);
  state_ = State::kObject;
  PushObject(c, events);
}

void ToolCallParser::PushObject(char c, ToolCallEvents& events) {
  switch (reader_->Push(c, events)) {
    case Status::kPending:
      held_ += c;
      return;
    case Status::kNoCall:
      GiveHeld(events);
      PushText(c, events);
      return;
    case Status::kCall:
      held_.clear();
      return;
    case Status::kEnded:
      EndObject();
      return;
    case Status::kEndedBefore:
      EndObject();
      if (state_ == State::kIdle) PushIdle(c, events);
      return;
  }
}

void ToolCallParser::EndObject() {
  held_.clear();
  seen_ = true;
  state_ = options_->parallel ? State::kIdle : State::kIgnore;
}

void ToolCallParser::GiveHeld(ToolCallEvents& events) {
  for (const char c : held_) NoteCode(c);
  AddEvent(Kind::kText, held_, events);
  held_.clear();
  tagged_ = fenced_ = array_ = false;
  state_ = State::kText;
}

void ToolCallParser::NoteCode(char c) {
  last_ = c;
  if (c == '\n') {
    line_start_ = true;
    ticks_ = 0;
  } else if (c == '`' && line_start_) {
    if (++ticks_ == 3) in_fence_ = !in_fence_;
  } else if (c != ' ') {
    line_start_ = false;
  }
}

void ToolCallParser::Finish(bool cut, ToolCallEvents& events) {
  const bool closing = state_ == State::kWord && seen_ && !only_tag_ &&
                       (kCloseTag.starts_with(word_) || (fenced_ && word_.front() == '`'));
  if (state_ == State::kObject && held_.empty()) {
    reader_->Finish(cut, events);
  } else if (!closing) {
    GiveHeld(events);
  }
  state_ = State::kIgnore;
}

}  // namespace vivace
