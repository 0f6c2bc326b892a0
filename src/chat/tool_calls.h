// ToolCallParser: finds the calls of tools in an answer while it is written.
//
// It reads the forms in which models write calls: objects with a name and arguments
// between <tool_call> tags, anywhere in the answer but in quoted code; and, where nothing
// else comes before them, such objects alone, in an array or in a code fence. Only names
// of the request's tools make a call; everything else stays text. One parser per answer;
// not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/call_reader.h"

namespace vivace {

struct ToolCallOptions {
  std::vector<std::string> names;  // of the tools that there are
  bool parallel = true;            // else nothing is reported after the first call
};

class ToolCallParser {
 public:
  explicit ToolCallParser(std::shared_ptr<const ToolCallOptions> options)
      : options_(std::move(options)) {}

  // Appends what has become certain with `text`. However an answer is cut, the events are
  // the same once neighbours of one kind are joined.
  void Push(std::string_view text, ToolCallEvents& events);
  // No more text. `cut`: the answer was ended from outside, so a call may be unfinished,
  // and then has no kEnd; otherwise brackets that are missing at its end are added.
  void Finish(bool cut, ToolCallEvents& events);

 private:
  enum class State : std::uint8_t {
    kIdle,     // at the start, or after a call: a call may begin
    kText,     // plain
    kWord,     // perhaps in a tag or a line that opens or closes code
    kOpening,  // after a tag or bracket, before an object
    kObject,
    kIgnore,
  };

  // Each takes one character.
  void PushIdle(char c, ToolCallEvents& events);
  void PushText(char c, ToolCallEvents& events);
  void PushWord(char c, ToolCallEvents& events);
  void PushOpening(char c, ToolCallEvents& events);
  void PushObject(char c, ToolCallEvents& events);

  std::vector<std::string_view> Words() const;
  void BeginWord(char c, bool only_tag);
  void EndWord(std::string_view word);
  void OpenObject(char c, ToolCallEvents& events);
  void EndObject();
  void GiveHeld(ToolCallEvents& events);  // it is text
  void NoteCode(char c);

  std::shared_ptr<const ToolCallOptions> options_;
  State state_ = State::kIdle;
  std::string held_ = {};  // not yet given: the space before a tag, or what may be a call
  std::string word_ = {};  // of it, the part that may be a tag
  std::optional<CallReader> reader_ = {};
  bool only_tag_ = false;  // that is the tag of a call, nothing else
  bool seen_ = false;      // a call
  bool tagged_ = false;    // in a tag, a code fence, an array
  bool fenced_ = false;
  bool array_ = false;
  // Whether the text that was given quotes code.
  bool in_fence_ = false;
  bool line_start_ = true;
  int ticks_ = 0;  // at the start of the line
  char last_ = '\n';
};

}  // namespace vivace
