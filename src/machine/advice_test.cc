#include "machine/advice.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace vivace {
namespace {

Spread Steady(double value) { return {.median = value, .min = value, .max = value}; }

// A machine about which there is nothing to say.
struct Machine {
  Machine() {
    for (int id = 0; id < 8; ++id) facts.cpu.cpus.push_back({.id = id, .core = id});
    facts.affinity = {0, 1, 2, 3, 4, 5, 6, 7};
    facts.tiers = {{"portable", ""}, {"avx2", ""}, {"avx512", ""}};
    facts.tier = "avx512";
    facts.chosen_cpus = facts.affinity;
    facts.memory = {.total = std::int64_t{16} << 30, .available = std::int64_t{8} << 30};
    facts.huge_pages.mode = "madvise";
    facts.nodes = {{.id = 0, .cpus = facts.affinity, .total = facts.memory.total}};
    limits.threads = 8;
    limits.huge_pages = {Steady(20e9), Steady(60e9), 1, ""};
    limits.small_pages = {Steady(18e9), Steady(55e9), 0, ""};
    limits.file = {Steady(19e9), Steady(58e9), 0, ""};
  }

  // The ids, warnings with a "!".
  std::string Ids() const {
    std::string ids;
    for (const Advice& advice : AdviceFor(facts, limits, home)) {
      ids += (ids.empty() ? "" : " ") + advice.id + (advice.warning ? "!" : "");
    }
    return ids;
  }
  std::string Text() const { return AdviceFor(facts, limits, home).at(0).text; }

  MachineFacts facts;
  MachineLimits limits;
  HomeFacts home = {.folder = "/models", .disk_free = std::int64_t{100} << 30};
};

TEST(AdviceTest, NothingToSay) { EXPECT_EQ(Machine().Ids(), ""); }

TEST(AdviceTest, Quota) {
  Machine machine;
  machine.facts.quota = {.cores = 1.5, .source = "/sys/fs/cgroup/cpu.max"};
  machine.facts.chosen_cpus = {0};
  EXPECT_EQ(machine.Ids(), "quota");
  EXPECT_NE(machine.Text().find("1.5 of 8 processors (/sys/fs/cgroup/cpu.max)"), std::string::npos);
  machine.facts.throttling = {.periods = 100, .throttled_periods = 5, .throttled_us = 1};
  EXPECT_EQ(machine.Ids(), "quota") << "one in twenty is no stutter";
  machine.facts.throttling.throttled_periods = 6;
  EXPECT_EQ(machine.Ids(), "throttled! quota");
  machine.facts.quota.cores = 8;
  EXPECT_EQ(machine.Ids(), "throttled!");
}

TEST(AdviceTest, Processors) {
  Machine machine;
  machine.facts.affinity = {0, 1};
  EXPECT_EQ(machine.Ids(), "affinity");
  machine.facts.affinity.clear();
  EXPECT_EQ(machine.Ids(), "") << "unknown is all";
  machine.facts.governor = "powersave";
  EXPECT_EQ(machine.Ids(), "governor");
  machine.facts.governor = "schedutil";
  machine.facts.nodes.push_back({.id = 1, .cpus = {8}, .total = 1});
  EXPECT_EQ(machine.Ids(), "numa");
  machine.facts.nodes.back().cpus.clear();
  EXPECT_EQ(machine.Ids(), "") << "a node of memory alone";
}

TEST(AdviceTest, InstructionSets) {
  Machine machine;
  machine.facts.tiers = {{"portable", ""}, {"avx2", "avx2 fma"}, {"avx512", "avx512f"}};
  machine.facts.tier = "portable";
  EXPECT_EQ(machine.Ids(), "no_avx2!");
  EXPECT_EQ(machine.Text().find("virtual"), std::string::npos);
  machine.facts.hypervisor = "KVM";
  EXPECT_NE(machine.Text().find("virtual"), std::string::npos);
  machine.facts.emulated = true;
  EXPECT_EQ(machine.Ids(), "emulated! no_avx2!");
}

TEST(AdviceTest, ForcedKernels) {
  Machine machine;
  machine.facts.tier = "avx2";
  EXPECT_EQ(machine.Ids(), "kernels_forced");
  machine.facts.tier = "";
  machine.facts.wished_tier = "neon";
  EXPECT_EQ(machine.Ids(), "kernels_refused!");
}

TEST(AdviceTest, MemoryAndDisk) {
  Machine machine;
  machine.facts.memory.swap_used = std::int64_t{1} << 30;
  machine.facts.memory.limit = std::int64_t{512} << 20;
  machine.home.disk_free = 1 << 30;
  EXPECT_EQ(machine.Ids(), "swap! memory! disk!");
  machine.home.disk_free = -1;
  EXPECT_EQ(machine.Ids(), "swap! memory!");
}

TEST(AdviceTest, HugePages) {
  Machine machine;
  machine.facts.huge_pages.mode = "never";
  machine.limits.huge_pages.huge_share = 0;
  EXPECT_EQ(machine.Ids(), "thp_off!");
  machine.facts.huge_pages.mode = "always";
  EXPECT_EQ(machine.Ids(), "thp_fragmented");
  machine.limits.huge_pages.huge_share = 1;
  machine.limits.file.all_threads = Steady(30e9);
  EXPECT_EQ(machine.Ids(), "file_pages");
  machine.limits.file.huge_share = 1;
  EXPECT_EQ(machine.Ids(), "") << "slow for another reason";
  machine.limits.file = {.one_thread = {}, .all_threads = {}, .huge_share = 0, .error = "no"};
  EXPECT_EQ(machine.Ids(), "");
}

TEST(AdviceTest, Figures) {
  Machine machine;
  machine.limits.huge_pages.one_thread = Steady(58e9);
  EXPECT_EQ(machine.Ids(), "one_thread");
  machine.limits.int8 = {{"avx512", Steady(2e11), Steady(16e11)}};
  EXPECT_EQ(machine.Ids(), "one_thread");
  machine.limits.int8 = {{"avx512", Steady(2e11), Steady(11e11)}};
  EXPECT_EQ(machine.Ids(), "busy");
  machine.limits.threads = 1;
  EXPECT_EQ(machine.Ids(), "");
  machine.limits.huge_pages.all_threads.max = 95e9;
  EXPECT_EQ(machine.Ids(), "unsteady");
}

}  // namespace
}  // namespace vivace
