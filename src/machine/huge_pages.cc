#include "machine/huge_pages.h"

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

}  // namespace vivace
