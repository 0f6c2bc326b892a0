// Files of the kernel that hold lines of "Name:   1234 kB", such as /proc/meminfo.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace vivace {

using KeyValues = std::map<std::string, std::int64_t, std::less<>>;

// The name and the number of one line, kB as bytes; {"", 0} if it is none of the kind. A
// name may have words before it: "Node 0 MemTotal: 1 kB" is MemTotal.
std::pair<std::string_view, std::int64_t> ParseKeyValue(std::string_view line);

// Empty where there is no such file.
KeyValues ReadKeyValues(const std::string& path);

// 0 where there is no such key.
std::int64_t ValueOf(const KeyValues& values, std::string_view key);

}  // namespace vivace
