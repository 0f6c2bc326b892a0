// Message: one turn of a conversation, as requests in OpenAI's form give it.
//
// Plain data. Content is always text here: null became "", and text parts were
// joined. Nothing is escaped; ChatTemplate keeps texts apart from control tokens.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "chat/json_input.h"

namespace vivace {

struct Message {
  std::string role;  // system, user, assistant, tool, ...; others reach the template as they are
  std::string content;
  std::string name{};          // empty if none
  std::string tool_call_id{};  // of a tool's answer; empty if none
  // The calls an assistant made, an array of {"id", "type", "function": {"name", "arguments"}}
  // with arguments as an object where they can be read as one. Null if none.
  Json tool_calls{};
  Json extra = Json::object();  // what else the message holds, such as reasoning_content
};

// `messages` is the array of a request. The error of a wrong one says where it is:
// "messages[2].content: ...". kUnsupported for parts that are not text.
Result<std::vector<Message>> ParseMessages(const Json& messages);

// The form that templates read. Keys: role, content, then those that are not empty.
Json ToJson(const Message& message);

}  // namespace vivace
