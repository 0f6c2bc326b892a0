#include "base/sysfs.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace vivace {
namespace {

// Takes a number off the front of `text`; -1 if there is none.
std::int64_t TakeNumber(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::string ReadFirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (!line.empty() && (line.back() == '\0' || line.back() == '\r')) line.pop_back();
  return line;
}

std::int64_t ReadNumber(const std::string& path, std::int64_t missing) {
  const std::string line = ReadFirstLine(path);
  std::int64_t value = 0;
  const auto result = std::from_chars(line.data(), line.data() + line.size(), value);
  return result.ec == std::errc() ? value : missing;
}

std::vector<int> ParseCpuList(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::int64_t first = TakeNumber(part);
    std::int64_t last = first;
    if (!part.empty() && part.front() == '-') {
      part.remove_prefix(1);
      last = TakeNumber(part);
    }
    if (first < 0 || last > kMaxCpu) continue;
    for (std::int64_t cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace vivace
