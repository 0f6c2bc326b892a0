#include "base/memory_facts.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>

namespace vivace {
namespace {

std::optional<std::int64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (!(file >> number)) return std::nullopt;  // missing, or "max"
  return number;
}

std::optional<std::int64_t> SystemAvailable(const std::string& root) {
  std::ifstream file(root + "proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %lld kB", &kilobytes) == 1) {
      return std::int64_t{kilobytes} << 10;
    }
  }
  return std::nullopt;
}

// What the container's limit leaves. Pages of files count as used, though the system gives
// them up when asked, so this is a low guess.
std::optional<std::int64_t> ContainerAvailable(const std::string& root) {
  const std::string folder = root + "sys/fs/cgroup/";
  struct Names {
    const char* limit;
    const char* used;
  };
  for (const Names& names :
       {Names{"memory.max", "memory.current"},
        Names{"memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"}}) {
    const auto limit = ReadNumber(folder + names.limit);
    const auto used = ReadNumber(folder + names.used);
    if (limit && used) return std::max<std::int64_t>(*limit - *used, 0);
  }
  return std::nullopt;
}

}  // namespace

std::int64_t AvailableMemory(const std::string& root) {
  const auto system = SystemAvailable(root);
  const auto container = ContainerAvailable(root);
  if (system && container) return std::min(*system, *container);
  return system ? *system : container.value_or(0);
}

std::int64_t ResidentMemory() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;  // pages
  if (!(file >> all >> resident)) return 0;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace vivace
