// Small text files of the kernel: one value or a list of cpus on the first line.
//
// A file that is missing or says something else gives the default: on every second
// machine some of them are not there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vivace {

// Without the line's end and any byte 0 (device tree files end in one); "" if missing.
std::string ReadFirstLine(const std::string& path);

// The number at the start of the first line, decimal.
std::int64_t ReadNumber(const std::string& path, std::int64_t missing);

// "0-3,8,10-11" in ascending order, without repeats; parts that make no sense and cpus
// above kMaxCpu are left out.
inline constexpr int kMaxCpu = 65535;
std::vector<int> ParseCpuList(std::string_view text);

}  // namespace vivace
