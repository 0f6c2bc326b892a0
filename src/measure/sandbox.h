// Sandbox: runs a Python program that a model has written, in a process of its own with little
// time and memory, in an empty folder, and without network where the system allows that.
//
// This keeps accidents away: endless loops, full disks, stray downloads. It is no wall against
// a program that means harm; who evaluates such a model does it in a container.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace vivace {

struct SandboxLimits {
  double seconds = 10;                                // of the clock, and of processor time
  std::int64_t memory_bytes = std::int64_t{1} << 30;  // of addresses
  std::int64_t file_bytes = 1 << 20;
};

enum class SandboxEnd : std::uint8_t { kPassed, kFailed, kTimedOut };

struct SandboxResult {
  SandboxEnd end = SandboxEnd::kFailed;
  std::string last_line;  // of standard error: what Python says
  bool offline = false;   // whether the network was away
};

// Exit status 0 is a pass. kUnsupported where there is no python3, kIo where the system
// refuses a folder or a process, kCancelled when asked to stop.
Result<SandboxResult> RunPython(const std::string& program, const SandboxLimits& limits,
                                const std::stop_token& cancel);

}  // namespace vivace
