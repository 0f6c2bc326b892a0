// Runs another program, without a shell, and waits for it.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace vivace {

struct Program {
  std::vector<std::string> words;       // name, looked up in PATH, and arguments
  std::string folder;                   // where it runs; its messages are kept there meanwhile
  std::vector<std::string> variables;   // "NAME=value", beside our own environment
  std::function<void()> while_running;  // called a few times a second
};

// What it prints is not shown. kNotFound when there is no such program or it fails, with
// the last line it wrote to standard error; kCancelled, after ending it, when asked to stop.
Result<void> RunProgram(Program program, const std::stop_token& stop);

}  // namespace vivace
