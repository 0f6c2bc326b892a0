// ChatRequest and TemplateTokens: all that a chat template may use.
//
// Plain data, from two sources: what one request says, and what the model fixes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chat/message.h"

namespace vivace {

struct TemplateTokens {
  std::string bos;  // empty if the model has none
  std::string eos;
  std::vector<std::string> control;  // the texts of all control tokens
};

// Whether the answer may be without calls. For "none" a request has no tools.
enum class ToolChoice : std::uint8_t { kAuto, kRequired };

struct ChatRequest {
  std::vector<Message> messages;
  Json tools;  // as ParseTools returns it
  ToolChoice tool_choice = ToolChoice::kAuto;
  std::string forced_tool = {};     // of kRequired: the only one that may be called
  bool parallel_tool_calls = true;  // more than one call in an answer
  bool add_generation_prompt = true;
  // How the answer begins, behind the generation prompt; "" where it is all the model's.
  std::string answer_start = {};
  // More variables for the template, such as enable_thinking. The fixed ones win.
  Json variables = Json::object();
  // What strftime_now shows: seconds since 1970-01-01 00:00 on the local calendar.
  // Negative: the clock of this machine.
  std::int64_t local_seconds = -1;
};

}  // namespace vivace
