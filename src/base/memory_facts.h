// How much memory there is for this process. Read anew at each call; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace vivace {

// Bytes that can be had without swapping: what the system says, and less where the
// container's limit (cgroup v2 or v1) leaves less. 0 where neither is known. `root` is "/"
// but for tests.
std::int64_t AvailableMemory(const std::string& root = "/");

// Bytes of this process that are in memory now, mapped files included. 0 where unknown.
std::int64_t ResidentMemory();

}  // namespace vivace
