// Huge pages: what the system is set to, and what a range of memory really got.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace vivace {

struct HugePageFacts {
  std::string mode;    // of transparent ones: "always", "madvise", "never"; "" unknown
  std::string defrag;  // whether a fault may wait for one to be made
  std::int64_t page_bytes = 0;
  std::int64_t reserved = 0;  // pages set aside by the administrator, and those free
  std::int64_t reserved_free = 0;
};

// `root` is "/" but for tests.
HugePageFacts ReadHugePageFacts(const std::string& root = "/");

// Bytes of the mappings that `range` touches which 2 MB pages back, anonymous and of files.
// `smaps` as in /proc/self/smaps. Cost: the system walks all pages of the process.
std::size_t HugeMappedBytes(std::span<const std::byte> range,
                            const std::string& smaps = "/proc/self/smaps");

}  // namespace vivace
