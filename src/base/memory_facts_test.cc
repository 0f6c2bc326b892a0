#include "base/memory_facts.h"

#include "gtest/gtest.h"

#include "base/testing.h"

namespace vivace {
namespace {

constexpr const char* kMeminfo = "MemTotal: 2000 kB\nMemFree: 5 kB\nMemAvailable: 1000 kB\n";

TEST(AvailableMemory, IsWhatTheSystemSays) {
  FileTree files("memory_facts");
  files.Write("proc/meminfo", kMeminfo);
  EXPECT_EQ(AvailableMemory(files.root()), 1000 << 10);
}

TEST(AvailableMemory, IsLessInAContainer) {
  FileTree files("memory_facts_container");
  files.Write("proc/meminfo", kMeminfo);
  files.Write("sys/fs/cgroup/memory.max", "700000\n");
  files.Write("sys/fs/cgroup/memory.current", "100000\n");
  EXPECT_EQ(AvailableMemory(files.root()), 600000);
  files.Write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(AvailableMemory(files.root()), 1000 << 10);
  files.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n");
  files.Write("sys/fs/cgroup/memory/memory.usage_in_bytes", "6000\n");
  EXPECT_EQ(AvailableMemory(files.root()), 0);
}

TEST(AvailableMemory, IsZeroWhereNobodyKnows) {
  const FileTree files("memory_facts_unknown");
  EXPECT_EQ(AvailableMemory(files.root()), 0);
}

TEST(ResidentMemory, GrowsWithWhatIsTouched) {
  const std::int64_t before = ResidentMemory();
  EXPECT_GT(before, 100'000);
  const std::string touched(std::size_t{64} << 20, 'x');
  EXPECT_GT(ResidentMemory(), before + (std::int64_t{60} << 20)) << touched.size();
}

}  // namespace
}  // namespace vivace
