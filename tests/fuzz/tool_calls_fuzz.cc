// Fuzzes what finds calls of tools in answers. The first byte says in what pieces the rest
// arrives and how it ends; how it is cut may not change what comes of it, and an answer
// without calls is its text.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/utf8.h"
#include "chat/json_input.h"
#include "chat/json_scanner.h"
#include "chat/tool_calls.h"

namespace {

using vivace::ToolCallEvent;
using vivace::ToolCallEvents;
using Kind = vivace::ToolCallEvent::Kind;

ToolCallEvents Parse(std::string_view text, std::size_t piece, bool cut, bool parallel) {
  vivace::ToolCallParser parser(std::make_shared<const vivace::ToolCallOptions>(
      vivace::ToolCallOptions{.names = {"f", "get_weather"}, .parallel = parallel}));
  ToolCallEvents events;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    ToolCallEvents more;
    parser.Push(text.substr(at, piece), more);
    for (const ToolCallEvent& event : more) AddEvent(event.kind, event.text, events);
  }
  ToolCallEvents last;
  parser.Finish(cut, last);
  for (const ToolCallEvent& event : last) AddEvent(event.kind, event.text, events);
  return events;
}

// Arguments belong to a call that is open; an object that is completed is one.
void Check(const ToolCallEvents& events, std::string_view text) {
  bool open = false;
  bool calls = false;
  for (const ToolCallEvent& event : events) {
    if (open != (event.kind == Kind::kArguments || event.kind == Kind::kEnd)) std::abort();
    if (event.kind == Kind::kArguments) {
      if (!vivace::Json::accept(vivace::CompletedObject(event.text))) std::abort();
    }
    if (event.kind == Kind::kBegin) open = calls = true;
    if (event.kind == Kind::kEnd) open = false;
  }
  if (calls) return;
  if (events.size() > 1 || (events.empty() ? "" : events[0].text) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (!vivace::IsValidUtf8(text)) return 0;  // answers are valid by the time they come here
  const bool cut = (data[0] & 1) != 0;
  const bool parallel = (data[0] & 2) != 0;
  const ToolCallEvents whole = Parse(text, std::max<std::size_t>(text.size(), 1), cut, parallel);
  if (Parse(text, 1 + data[0] / 4, cut, parallel) != whole) std::abort();
  Check(whole, text);
  return 0;
}
