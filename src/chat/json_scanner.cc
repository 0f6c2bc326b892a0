#include "chat/json_scanner.h"

#include "chat/json_input.h"

namespace vivace {
namespace {

constexpr std::size_t kMaxScalar = 400;  // longer than any number that means something

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Of numbers, true, false and null.
bool IsScalar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' || c == '+' || c == '-' ||
         c == '.';
}

}  // namespace

bool JsonScanner::in_string() const {
  return state_ == State::kString || state_ == State::kEscape || state_ == State::kUnicode;
}

JsonScanner::Step JsonScanner::Push(char c) {
  switch (state_) {
    case State::kString:
      return PushInString(c);
    case State::kEscape:
    case State::kUnicode:
      return PushEscape(c);
    case State::kScalar:
      return PushScalar(c);
    default:
      return IsSpace(c) ? Step::kInside : PushStructure(c);
  }
}

JsonScanner::Step JsonScanner::PushInString(char c) {
  if (static_cast<unsigned char>(c) < 0x20) return Step::kWrong;
  if (c == '"') {
    state_ = is_key_ ? State::kColon : State::kAfterValue;
    return is_key_ ? Step::kKeyEnd : Step::kStringEnd;
  }
  if (c == '\\') state_ = State::kEscape;
  if (collects()) string_ += c;
  return Step::kInside;
}

JsonScanner::Step JsonScanner::PushEscape(char c) {
  if (state_ == State::kUnicode) {
    if (!IsHexDigit(c)) return Step::kWrong;
    if (--hex_digits_ == 0) state_ = State::kString;
  } else if (c == 'u') {
    state_ = State::kUnicode;
    hex_digits_ = 4;
  } else {
    if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) return Step::kWrong;
    state_ = State::kString;
  }
  if (collects()) string_ += c;
  return Step::kInside;
}

JsonScanner::Step JsonScanner::PushScalar(char c) {
  const bool ends = IsSpace(c) || c == ',' || c == '}' || c == ']';
  if (!ends) {
    if (!IsScalar(c) || scalar_.size() >= kMaxScalar) return Step::kWrong;
    scalar_ += c;
    return Step::kInside;
  }
  if (!Json::accept(scalar_)) return Step::kWrong;
  if (IsSpace(c)) {
    state_ = State::kAfterValue;
    return Step::kInside;
  }
  return PushAfterValue(c);
}

JsonScanner::Step JsonScanner::PushStructure(char c) {
  switch (state_) {
    case State::kFirstKey:
    case State::kKey:
      if (c == '}' && state_ == State::kFirstKey) return Close();
      if (c != '"') return Step::kWrong;
      is_key_ = true;
      state_ = State::kString;
      if (collects()) string_.clear();
      return Step::kInside;
    case State::kColon:
      if (c != ':') return Step::kWrong;
      state_ = State::kValue;
      return Step::kInside;
    case State::kFirstItem:
      return c == ']' ? Close() : BeginValue(c);
    case State::kValue:
      return BeginValue(c);
    case State::kAfterValue:
      return PushAfterValue(c);
    default:
      return Step::kWrong;
  }
}

JsonScanner::Step JsonScanner::PushAfterValue(char c) {
  if (open_.empty()) return Step::kWrong;
  if (c == ',') {
    state_ = in_object() ? State::kKey : State::kValue;
    return Step::kInside;
  }
  return c == (in_object() ? '}' : ']') ? Close() : Step::kWrong;
}

JsonScanner::Step JsonScanner::BeginValue(char c) {
  if (c == '{' || c == '[') return Open(c);
  if (c == '"') {
    is_key_ = false;
    state_ = State::kString;
    if (collects()) string_.clear();
    return Step::kInside;
  }
  if (std::string_view("-0123456789tfn").find(c) == std::string_view::npos) return Step::kWrong;
  state_ = State::kScalar;
  scalar_ = c;
  return Step::kInside;
}

JsonScanner::Step JsonScanner::Open(char c) {
  if (open_.size() >= static_cast<std::size_t>(kMaxJsonDepth)) return Step::kWrong;
  open_ += c;
  state_ = c == '{' ? State::kFirstKey : State::kFirstItem;
  return Step::kOpened;
}

JsonScanner::Step JsonScanner::Close() {
  open_.pop_back();
  state_ = open_.empty() ? State::kDone : State::kAfterValue;
  return Step::kClosed;
}

std::optional<std::string> JsonScanner::Closers() const {
  const bool between = state_ == State::kAfterValue || state_ == State::kFirstKey ||
                       state_ == State::kFirstItem || state_ == State::kDone;
  if (!between && !(state_ == State::kScalar && Json::accept(scalar_))) return std::nullopt;
  std::string closers;
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    closers += *open == '{' ? '}' : ']';
  }
  return closers;
}

std::string CompletedObject(std::string_view text) {
  JsonScanner scanner;
  std::size_t kept = 0;
  std::string closers;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // A number has not ended before something follows it.
    auto before = scanner.in_scalar() ? scanner.Closers() : std::nullopt;
    if (scanner.Push(text[i]) == JsonScanner::Step::kWrong) break;
    if (scanner.in_scalar()) continue;
    auto now = scanner.Closers();
    if (now || before) {
      kept = now ? i + 1 : i;
      closers = now ? std::move(*now) : std::move(*before);
    }
  }
  const std::string object = std::string(text.substr(0, kept)) + closers;
  return object.starts_with('{') ? object : "{}";
}

}  // namespace vivace
