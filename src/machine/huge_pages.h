// Huge pages: what the system is set to.
#pragma once

#include <cstdint>
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

}  // namespace vivace
