#include "chat/call_reader.h"

#include <algorithm>
#include <array>

#include "chat/json_input.h"

namespace vivace {
namespace {

using Kind = ToolCallEvent::Kind;
using Step = JsonScanner::Step;

// What is held back until it is known to be a call or not.
constexpr std::size_t kMaxObject = std::size_t{64} << 10;

bool IsArguments(std::string_view key) { return key == "arguments" || key == "parameters"; }

bool IsCallKey(std::string_view key) {
  constexpr std::array<std::string_view, 4> kOthers = {"name", "id", "type", "function"};
  return IsArguments(key) || std::ranges::find(kOthers, key) != kOthers.end();
}

// The text that a JSON string without its quotes stands for.
std::string Unescaped(const std::string& text) {
  const auto parsed = ParseJson('"' + text + '"');
  return parsed && parsed->is_string() ? parsed->get<std::string>() : "";
}

std::string Escaped(char control) {
  const std::string quoted = Json(std::string(1, control)).dump();
  return quoted.substr(1, quoted.size() - 2);
}

const Json* Member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

void AddEvent(Kind kind, std::string_view text, ToolCallEvents& events) {
  const bool joins = kind == Kind::kText || kind == Kind::kArguments;
  if (joins && text.empty()) return;
  if (joins && !events.empty() && events.back().kind == kind) {
    events.back().text += text;
  } else {
    events.push_back({.kind = kind, .text = std::string(text)});
  }
}

CallReader::Status CallReader::Push(char c, ToolCallEvents& events) {
  switch (state_) {
    case State::kObject:
      return PushObject(c, events);
    case State::kArguments:
      return PushArguments(c, events);
    case State::kRaw:
      return PushRaw(c, events);
    case State::kTail:
      return PushTail(c);
  }
  return Status::kEndedBefore;
}

CallReader::Status CallReader::PushObject(char c, ToolCallEvents& events) {
  const Step step = scanner_.Push(c);
  if (step == Step::kWrong || object_.size() >= kMaxObject) return Status::kNoCall;
  object_ += c;
  if (step == Step::kClosed && scanner_.depth() == 0) {
    return TakeWhole(events) ? Status::kEnded : Status::kNoCall;
  }
  if (!NoteMember(step)) return Status::kNoCall;
  const bool begins = step == Step::kOpened && c == '{' && scanner_.depth() == 2;
  if (!begins || name_.empty() || !IsArguments(key_)) return Status::kPending;
  AddEvent(Kind::kBegin, name_, events);
  AddEvent(Kind::kArguments, "{", events);
  state_ = State::kArguments;
  return Status::kCall;
}

// False where no call holds that member.
bool CallReader::NoteMember(Step step) {
  if (scanner_.depth() != 1) return true;
  if (step == Step::kKeyEnd) {
    key_ = scanner_.last_string();
    return !strict_ || IsCallKey(key_);
  }
  if (step != Step::kStringEnd || key_ != "name") return true;
  name_ = Unescaped(scanner_.last_string());
  return IsTool(name_);
}

CallReader::Status CallReader::PushArguments(char c, ToolCallEvents& events) {
  const Step step = scanner_.Push(c);
  if (step == Step::kWrong) {
    if (scanner_.in_string() && static_cast<unsigned char>(c) < 0x20) {
      AddEvent(Kind::kArguments, Escaped(c), events);  // such as the line breaks of code
      return Status::kCall;
    }
    raw_depth_ = scanner_.depth() - 1;
    if (scanner_.Closers()) repair_ = MissingBrackets();
    state_ = State::kRaw;
    return PushRaw(c, events);
  }
  AddEvent(Kind::kArguments, {&c, 1}, events);
  if (step == Step::kClosed && scanner_.depth() == 1) {
    AddEvent(Kind::kEnd, "", events);
    state_ = State::kTail;
  }
  return Status::kCall;
}

// Nothing is made better than it is, but for brackets that are missing at the end.
CallReader::Status CallReader::PushRaw(char c, ToolCallEvents& events) {
  if (!terminator_.empty() && terminator_[held_.size()] != c) {
    if (!held_.empty()) repair_.reset();
    AddEvent(Kind::kArguments, held_, events);
    held_.clear();
  }
  if (!terminator_.empty() && terminator_[held_.size()] == c) {
    held_ += c;
    if (held_ != terminator_) return Status::kCall;
    AddEvent(Kind::kArguments, repair_.value_or(""), events);
    AddEvent(Kind::kEnd, "", events);
    return Status::kEnded;
  }
  repair_.reset();
  AddEvent(Kind::kArguments, {&c, 1}, events);
  if (c == '{' || c == '[') ++raw_depth_;
  if (c == '}' || c == ']') --raw_depth_;
  if (raw_depth_ > 0) return Status::kCall;
  AddEvent(Kind::kEnd, "", events);
  return Status::kEnded;
}

CallReader::Status CallReader::PushTail(char c) {
  const Step step = scanner_.Push(c);
  if (step == Step::kWrong) return Status::kEndedBefore;
  const bool over = step == Step::kClosed && scanner_.depth() == 0;
  return over ? Status::kEnded : Status::kCall;
}

// Of the object that is complete.
bool CallReader::TakeWhole(ToolCallEvents& events) const {
  const auto object = ParseJson(object_);
  if (!object) return false;
  const Json* call = Member(*object, "function");
  if (call == nullptr || !call->is_object()) call = &*object;
  const Json* name = Member(*call, "name");
  if (name == nullptr || !name->is_string() || !IsTool(name->get_ref<const std::string&>())) {
    return false;
  }
  const Json* arguments = Member(*call, "arguments");
  if (arguments == nullptr) arguments = Member(*call, "parameters");
  if (arguments == nullptr && strict_) return false;
  Json value = arguments == nullptr || arguments->is_null() ? Json::object() : *arguments;
  if (value.is_string()) {
    auto parsed = ParseJson(value.get_ref<const std::string&>());
    if (parsed) value = std::move(*parsed);
  }
  if (!value.is_object()) return false;
  AddEvent(Kind::kBegin, name->get_ref<const std::string&>(), events);
  AddEvent(Kind::kArguments, value.dump(-1, ' ', false, Json::error_handler_t::replace), events);
  AddEvent(Kind::kEnd, "", events);
  return true;
}

bool CallReader::IsTool(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

// Those of the arguments: the object around them has the last one.
std::string CallReader::MissingBrackets() const {
  std::string brackets = scanner_.Closers().value_or("");
  if (!brackets.empty()) brackets.pop_back();
  return brackets;
}

void CallReader::Finish(bool cut, ToolCallEvents& events) {
  if (state_ == State::kTail) return;
  if (state_ == State::kRaw) AddEvent(Kind::kArguments, held_, events);
  if (cut) return;
  if (state_ == State::kArguments) AddEvent(Kind::kArguments, MissingBrackets(), events);
  AddEvent(Kind::kEnd, "", events);
}

}  // namespace vivace
