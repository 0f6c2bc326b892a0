#include "machine/huge_pages.h"

#include <charconv>
#include <fstream>
#include <string_view>

#include "base/sysfs.h"
#include "machine/key_values.h"

namespace vivace {
namespace {

// The bracketed word of "always [madvise] never".
std::string Chosen(const std::string& line) {
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  return line.substr(open + 1, close - open - 1);
}

// "7f0000000000-7f0000200000 rw-p ..."; false for other lines.
bool ParseRange(std::string_view line, std::uintptr_t& begin, std::uintptr_t& end) {
  const char* last = line.data() + line.size();
  const auto first = std::from_chars(line.data(), last, begin, 16);
  if (first.ec != std::errc() || first.ptr == last || *first.ptr != '-') return false;
  return std::from_chars(first.ptr + 1, last, end, 16).ec == std::errc();
}

}  // namespace

HugePageFacts ReadHugePageFacts(const std::string& root) {
  const std::string folder = root + "sys/kernel/mm/transparent_hugepage/";
  const KeyValues memory = ReadKeyValues(root + "proc/meminfo");
  return {.mode = Chosen(ReadFirstLine(folder + "enabled")),
          .defrag = Chosen(ReadFirstLine(folder + "defrag")),
          .page_bytes = ValueOf(memory, "Hugepagesize"),
          .reserved = ValueOf(memory, "HugePages_Total"),
          .reserved_free = ValueOf(memory, "HugePages_Free")};
}

std::size_t HugeMappedBytes(std::span<const std::byte> range, const std::string& smaps) {
  const auto first = reinterpret_cast<std::uintptr_t>(range.data());
  const std::uintptr_t last = first + range.size();
  std::ifstream file(smaps);
  std::int64_t bytes = 0;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (ParseRange(line, begin, end)) inside = begin < last && first < end;
    if (!inside) continue;
    const auto [key, value] = ParseKeyValue(line);
    if (key == "AnonHugePages" || key == "FilePmdMapped") bytes += value;
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace vivace
