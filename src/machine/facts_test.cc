#include "machine/facts.h"

#include "gtest/gtest.h"

#include "base/testing.h"
#include "machine/hypervisor.h"
#include "machine/key_values.h"

namespace vivace {
namespace {

class FactsTest : public testing::Test {
 protected:
  FileTree tree_{std::string("facts_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name()};
  const std::string& root_ = tree_.root();
};

TEST(KeyValuesTest, LinesOfTheKernel) {
  EXPECT_EQ(ParseKeyValue("MemTotal:       24577256 kB"),
            std::make_pair(std::string_view("MemTotal"), std::int64_t{24577256} * 1024));
  EXPECT_EQ(ParseKeyValue("HugePages_Free:        3").second, 3);
  EXPECT_EQ(ParseKeyValue("Node 1 MemTotal:  8 kB").first, "MemTotal");
  EXPECT_EQ(ParseKeyValue("VmFlags: rd wr mr").first, "");
  EXPECT_EQ(ParseKeyValue("no colon").first, "");
  EXPECT_EQ(ParseKeyValue("Empty:   ").first, "");
  EXPECT_EQ(ParseKeyValue("Huge: 9223372036854775807 kB").second, 0);
}

TEST(HypervisorTest, Names) {
  EXPECT_EQ(HypervisorOf("", "Intel(R) Xeon(R)").name, "");
  EXPECT_EQ(HypervisorOf("KVMKVMKVM", "AMD EPYC").name, "KVM");
  EXPECT_FALSE(HypervisorOf("KVMKVMKVM", "AMD EPYC").emulates);
  EXPECT_EQ(HypervisorOf("SomethingNew", "").name, "SomethingNew");
  EXPECT_TRUE(HypervisorOf("TCGTCGTCGTCG", "QEMU TCG CPU version 2.5+").emulates);
  EXPECT_TRUE(HypervisorOf("", "VirtualApple @ 2.50GHz").emulates);
}

TEST_F(FactsTest, AMachineThatTellsNothing) {
  const MachineFacts facts = ReadMachineFacts(root_);
  EXPECT_TRUE(facts.cpu.cpus.empty());
  EXPECT_EQ(facts.memory.total, 0);
  EXPECT_EQ(facts.huge_pages.mode, "");
  EXPECT_FALSE(facts.chosen_cpus.empty());
  ASSERT_FALSE(facts.tiers.empty());
  EXPECT_EQ(facts.tiers.front().name, "portable");
}

TEST_F(FactsTest, MemoryAndHugePages) {
  tree_.Write("proc/meminfo",
              "MemTotal: 1000 kB\nMemAvailable: 600 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n"
              "HugePages_Total: 4\nHugePages_Free: 3\nHugepagesize: 2048 kB\n");
  tree_.Write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  tree_.Write("proc/self/cgroup", "0::/box\n");
  tree_.Write("sys/fs/cgroup/box/memory.max", "102400\n");
  const MachineFacts facts = ReadMachineFacts(root_);
  EXPECT_EQ(facts.memory.total, 1000 * 1024);
  EXPECT_EQ(facts.memory.swap_used, 30 * 1024);
  EXPECT_EQ(facts.memory.limit, 102400);
  EXPECT_EQ(facts.memory.usable(), 102400);
  EXPECT_EQ(facts.huge_pages.mode, "madvise");
  EXPECT_EQ(facts.huge_pages.page_bytes, 2 << 20);
  EXPECT_EQ(facts.huge_pages.reserved_free, 3);
}

TEST_F(FactsTest, NodesAndSlicesOfCache) {
  tree_.Write("sys/devices/system/cpu/online", "0-3\n");
  tree_.Write("sys/devices/system/node/online", "0-1\n");
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
    tree_.Write(folder + "cache/index0/type", "Data\n");
    tree_.Write(folder + "cache/index1/type", "Instruction\n");
    tree_.Write(folder + "cache/index2/type", "Unified\n");
    tree_.Write(folder + "cache/index3/type", "Unified\n");
    tree_.Write(folder + "cache/index3/level", "3\n");
    tree_.Write(folder + "cache/index3/size", "16M\n");
    tree_.Write(folder + "cache/index3/shared_cpu_list", cpu < 2 ? "0-1\n" : "2-3\n");
    tree_.Write(folder + "cpufreq/scaling_governor", "powersave\n");
  }
  tree_.Write("sys/devices/system/node/node0/cpulist", "0-1\n");
  tree_.Write("sys/devices/system/node/node1/cpulist", "2-3\n");
  tree_.Write("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:       512 kB\n");
  const MachineFacts facts = ReadMachineFacts(root_);
  EXPECT_EQ(facts.l3_total, 32 << 20);
  EXPECT_EQ(facts.governor, "powersave");
  ASSERT_EQ(facts.nodes.size(), 2U);
  EXPECT_EQ(facts.nodes[1].cpus, (std::vector<int>{2, 3}));
  EXPECT_EQ(facts.nodes[1].total, 512 * 1024);
}

}  // namespace
}  // namespace vivace
