#include "machine/key_values.h"

#include <charconv>
#include <fstream>

namespace vivace {

std::pair<std::string_view, std::int64_t> ParseKeyValue(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  std::string_view key = line.substr(0, colon);
  key.remove_prefix(key.find_last_of(" \t") + 1);  // npos + 1 is 0
  const std::size_t start = line.find_first_not_of(" \t", colon + 1);
  if (start == std::string_view::npos) return {};
  std::int64_t value = 0;
  const char* end = line.data() + line.size();
  const auto parsed = std::from_chars(line.data() + start, end, value);
  if (parsed.ec != std::errc()) return {};
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  constexpr std::int64_t kMaxKb = std::int64_t{1} << 50;
  if (unit == " kB") value = value < kMaxKb ? value * 1024 : 0;
  return {key, value};
}

KeyValues ReadKeyValues(const std::string& path) {
  KeyValues values;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto [key, value] = ParseKeyValue(line);
    if (!key.empty()) values.emplace(key, value);
  }
  return values;
}

std::int64_t ValueOf(const KeyValues& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? 0 : found->second;
}

}  // namespace vivace
