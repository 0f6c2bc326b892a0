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

struct ChatRequest {
  std::vector<Message> messages;
  Json tools;  // as ParseTools returns it
  bool add_generation_prompt = true;
  // More variables for the template, such as enable_thinking. The fixed ones win.
  Json variables = Json::object();
  // What strftime_now shows: seconds since 1970-01-01 00:00 on the local calendar.
  // Negative: the clock of this machine.
  std::int64_t local_seconds = -1;
};

}  // namespace vivace
