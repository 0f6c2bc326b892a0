// CallReader: reads one JSON object that may be a call of a tool, character by character.
//
// As soon as the name of a known tool and the beginning of its arguments were read it is a
// call, and the arguments are handed on as they come. Objects that say it in another order
// or form ({"function": {...}}, arguments as a text) are understood when they are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/json_scanner.h"

namespace vivace {

struct ToolCallEvent {
  enum class Kind : std::uint8_t {
    kText,
    kBegin,      // a call of the tool named `text`
    kArguments,  // the next piece of its arguments, a JSON object
    kEnd,
  };
  Kind kind;
  std::string text = {};

  bool operator==(const ToolCallEvent&) const = default;
};
using ToolCallEvents = std::vector<ToolCallEvent>;

// Appends one, or its text to the last one where that is of the same kind.
void AddEvent(ToolCallEvent::Kind kind, std::string_view text, ToolCallEvents& events);

class CallReader {
 public:
  enum class Status : std::uint8_t {
    kPending,      // may be a call
    kNoCall,       // is none; the character was not taken
    kCall,         // is one
    kEnded,        // and over
    kEndedBefore,  // the same; the character was not taken
  };

  // `names` must outlive this. `strict`: only objects that hold nothing but what calls
  // hold. Where the arguments are no JSON, they end before `terminator`, which is taken.
  CallReader(const std::vector<std::string>& names, bool strict, std::string_view terminator)
      : names_(names), strict_(strict), terminator_(terminator) {}

  Status Push(char c, ToolCallEvents& events);
  // No more text: see ToolCallParser::Finish. Precondition: it is a call.
  void Finish(bool cut, ToolCallEvents& events);

 private:
  enum class State : std::uint8_t { kObject, kArguments, kRaw, kTail };

  Status PushObject(char c, ToolCallEvents& events);
  Status PushArguments(char c, ToolCallEvents& events);
  Status PushRaw(char c, ToolCallEvents& events);
  Status PushTail(char c);
  bool NoteMember(JsonScanner::Step step);
  bool TakeWhole(ToolCallEvents& events) const;
  bool IsTool(std::string_view name) const;
  std::string MissingBrackets() const;

  const std::vector<std::string>& names_;
  const bool strict_;
  const std::string_view terminator_;
  State state_ = State::kObject;
  JsonScanner scanner_ = {};
  std::string object_ = {};  // up to here, while it is not known to be a call
  std::string key_ = {};
  std::string name_ = {};
  std::size_t raw_depth_ = 0;  // brackets that are open in arguments that are no JSON
  std::string held_ = {};      // of them; may become the terminator
  std::optional<std::string> repair_ = {};
};

}  // namespace vivace
