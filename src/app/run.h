// The flags of `vivace run`, shared with its terminal chat.
#pragma once

#include <string>
#include <vector>

#include "app/session.h"
#include "sampling/params.h"

namespace vivace {

struct RunFlags {
  SessionFlags session;
  SamplingParams sampling;
  std::string prompt;
  bool has_prompt = false;
  std::string system;
  std::string chat_template;
  std::vector<std::string> stop;
  std::int64_t max_tokens = -1;
  std::size_t logprobs = 0;
  bool raw = false;
  bool json = false;
  bool timings = false;
};

// The conversation on a terminal; returns the exit code.
Result<int> ChatInTerminal(RunFlags flags);

}  // namespace vivace
