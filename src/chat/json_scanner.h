// JsonScanner: follows one JSON value character by character, as a model writes it.
//
// Says at each character whether it can stand there, so that nothing has to be parsed
// twice or kept. One object per value; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vivace {

class JsonScanner {
 public:
  enum class Step : std::uint8_t {
    kWrong,      // the character cannot stand here; nothing has changed
    kInside,     // nothing of the following
    kKeyEnd,     // a key is complete; see last_string()
    kStringEnd,  // a string that is a value is complete; see last_string()
    kOpened,     // an object or array begins
    kClosed,     // and ends; at depth() 0 the value is complete
  };

  Step Push(char c);

  std::size_t depth() const { return open_.size(); }  // objects and arrays that are open
  bool in_string() const;
  // The text of the last string or key that ended in the outermost object, without its
  // quotes, with its escapes.
  const std::string& last_string() const { return string_; }

  // What is missing to a complete value; nothing where that is not known: in the middle of
  // a string, after a key.
  std::optional<std::string> Closers() const;
  // True in a number or a word such as true, which may be longer than it is so far.
  bool in_scalar() const { return state_ == State::kScalar; }

 private:
  enum class State : std::uint8_t {
    kValue,      // before a value
    kFirstItem,  // after '[': a value or the end
    kFirstKey,   // after '{': a key or the end
    kKey,        // after ',' in an object
    kColon,
    kAfterValue,
    kString,
    kEscape,
    kUnicode,
    kScalar,
    kDone,
  };

  Step PushInString(char c);
  Step PushEscape(char c);
  Step PushStructure(char c);
  Step PushAfterValue(char c);
  Step PushScalar(char c);
  Step BeginValue(char c);
  Step Open(char c);
  Step Close();
  bool collects() const { return open_.size() <= 1; }
  bool in_object() const { return !open_.empty() && open_.back() == '{'; }

  State state_ = State::kValue;
  bool is_key_ = false;    // the string that is open
  int hex_digits_ = 0;     // still to come in \uXXXX
  std::string open_ = {};  // a '{' or '[' for each
  std::string string_ = {};
  std::string scalar_ = {};  // of the number or word that is open
};

// The object that `text`, the beginning of one, holds completely: members that have not
// ended are left out. "{}" where there is no object.
std::string CompletedObject(std::string_view text);

}  // namespace vivace
