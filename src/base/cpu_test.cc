#include "base/cpu.h"

#include <fstream>

#include "gtest/gtest.h"

#include "base/cpu_choice.h"
#include "base/isa_flags.h"
#include "base/sysfs.h"
#include "base/testing.h"

namespace vivace {
namespace {

std::vector<int> Range(int first, int last) {
  std::vector<int> values;
  for (int value = first; value <= last; ++value) values.push_back(value);
  return values;
}

// The machine of tests/data/cpu/NAME.tree.
CpuFacts Machine(const std::string& name) {
  const FileTree tree(name);
  std::ifstream file(SourceFolder() + "tests/data/cpu/" + name + ".tree");
  EXPECT_TRUE(file.is_open()) << name;
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    tree.Write(line.substr(0, space), line.substr(space + 1) + "\n");
  }
  return ReadCpuFacts(tree.root());
}

std::vector<int> BigCpus(const CpuFacts& facts) {
  std::vector<int> big;
  for (const LogicalCpu& cpu : facts.cpus) {
    if (cpu.kind == CoreKind::kBig) big.push_back(cpu.id);
  }
  return big;
}

TEST(CpuTest, HybridWithSharedCores) {
  const CpuFacts facts = Machine("core-i9-13900k");
  EXPECT_EQ(facts.model, "13th Gen Intel(R) Core(TM) i9-13900K");
  ASSERT_EQ(facts.cpus.size(), 32U);
  EXPECT_EQ(BigCpus(facts), Range(0, 15));
  EXPECT_EQ(facts.cpus[5].core, 4);
  EXPECT_EQ(facts.cpus[5].smt_index, 1);
  EXPECT_EQ(facts.cpus[20].smt_index, 0);
  EXPECT_EQ(facts.l1d_bytes, 48 << 10);
  EXPECT_EQ(facts.l2_bytes, 2 << 20);
  EXPECT_EQ(facts.l3_bytes, 36 << 20);
  EXPECT_EQ(ChooseCpus(facts, {}, 0), (std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14}));
}

TEST(CpuTest, HybridWithoutSharedCores) {
  const CpuFacts facts = Machine("core-ultra-285k");
  EXPECT_EQ(ChooseCpus(facts, {}, 0), (std::vector<int>{0, 1, 10, 11, 12, 13, 22, 23}));
}

TEST(CpuTest, BigAndLittleByCapacity) {
  const CpuFacts facts = Machine("rk3588");
  EXPECT_EQ(facts.model, "Radxa ROCK 5B");
  EXPECT_EQ(BigCpus(facts), Range(4, 7));
  EXPECT_EQ(facts.l2_bytes, 512 << 10) << "of a big core";
  EXPECT_EQ(ChooseCpus(facts, {}, 0), Range(4, 7));
}

TEST(CpuTest, TwoMemoryNodes) {
  const CpuFacts facts = Machine("epyc-7262-2-sockets");
  EXPECT_EQ(BigCpus(facts).size(), 32U);
  EXPECT_EQ(facts.cpus[9].node, 1);
  EXPECT_EQ(facts.cpus[9].package, 1);
  EXPECT_EQ(facts.cpus[25].core, 9);
  EXPECT_EQ(ChooseCpus(facts, {}, 0), Range(0, 7));
}

TEST(CpuTest, OneKindOfCore) {
  EXPECT_EQ(ChooseCpus(Machine("raspberry-pi-5"), {}, 0), Range(0, 3));
  EXPECT_EQ(Machine("raspberry-pi-5").model, "Raspberry Pi 5 Model B Rev 1.0");
  EXPECT_EQ(ChooseCpus(Machine("xeon-vm-2-cpus"), {}, 0), Range(0, 1));
  EXPECT_EQ(Machine("xeon-vm-2-cpus").l3_bytes, 300 << 20);
}

TEST(CpuTest, AMachineThatTellsNothing) {
  const CpuFacts facts = ReadCpuFacts(FileTree("nothing").root());
  EXPECT_EQ(facts.model, "");
  EXPECT_TRUE(facts.cpus.empty());
  EXPECT_EQ(ChooseCpus(facts, {}, 0), std::vector<int>{0});
  EXPECT_EQ(ChooseCpus(facts, Range(3, 5), 0), Range(3, 5));
}

TEST(CpuTest, KindsByFrequency) {
  const FileTree tree("frequency");
  tree.Write("sys/devices/system/cpu/online", "0-2\n");
  for (const int cpu : {0, 1, 2}) {
    tree.Write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/cpuinfo_max_freq",
               cpu == 1 ? "2000000\n" : "3000000\n");
  }
  EXPECT_EQ(BigCpus(ReadCpuFacts(tree.root())), (std::vector<int>{0, 2}));
}

TEST(ChooseCpusTest, TheQuotaIsRoundedDown) {
  const CpuFacts facts = Machine("core-i9-13900k");
  EXPECT_EQ(ChooseCpus(facts, {}, 7.65).size(), 7U);
  EXPECT_EQ(ChooseCpus(facts, {}, 2.0), (std::vector<int>{0, 2}));
  EXPECT_EQ(ChooseCpus(facts, {}, 0.5), std::vector<int>{0});
  EXPECT_EQ(ChooseCpus(facts, {}, 1e9).size(), 8U);
}

TEST(ChooseCpusTest, TheAffinityDecides) {
  const CpuFacts hybrid = Machine("core-i9-13900k");
  EXPECT_EQ(ChooseCpus(hybrid, Range(5, 8), 0), (std::vector<int>{5, 6, 8}))
      << "the second thread of a core stands for it where the first is not allowed";
  EXPECT_EQ(ChooseCpus(hybrid, Range(16, 19), 0), Range(16, 19)) << "little cores if no other";
  const CpuFacts nodes = Machine("epyc-7262-2-sockets");
  EXPECT_EQ(ChooseCpus(nodes, Range(6, 15), 0), Range(8, 15)) << "the node with more of them";
}

TEST(ChooseCpusTest, ThisMachineHasOne) { EXPECT_GE(ChooseCpus().size(), 1U); }

TEST(SysfsTest, ListsOfCpus) {
  EXPECT_EQ(ParseCpuList("0-3,8,10-11"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(ParseCpuList("5,1,1-2"), (std::vector<int>{1, 2, 5}));
  EXPECT_EQ(ParseCpuList(""), std::vector<int>{});
  EXPECT_EQ(ParseCpuList("x,-3,4-,7,9-2,0-4000000000,99999999999999999999"), std::vector<int>{7});
}

#if defined(__x86_64__)
// The system lists an instruction only where it saves the registers for it.
TEST(IsaFlagsTest, AgreesWithTheSystem) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && line.rfind("flags", 0) != 0) {
  }
  if (line.empty()) GTEST_SKIP() << "no /proc/cpuinfo";
  line += ' ';
  const auto listed = [&](const char* name) {
    return line.find(std::string(" ") + name + " ") != std::string::npos;
  };
  const IsaFlags flags = DetectIsaFlags();
  EXPECT_EQ(flags.avx2, listed("avx2"));
  EXPECT_EQ(flags.fma, listed("fma"));
  EXPECT_EQ(flags.f16c, listed("f16c"));
  EXPECT_EQ(flags.avxvnni, listed("avx_vnni"));
  EXPECT_EQ(flags.avx512f, listed("avx512f"));
  EXPECT_EQ(flags.avx512bw, listed("avx512bw"));
  EXPECT_EQ(flags.avx512dq, listed("avx512dq"));
  EXPECT_EQ(flags.avx512vl, listed("avx512vl"));
  EXPECT_EQ(flags.avx512vnni, listed("avx512_vnni"));
  EXPECT_EQ(flags.avx512bf16, listed("avx512_bf16"));
  EXPECT_EQ(flags.avx512vbmi, listed("avx512vbmi"));
  EXPECT_EQ(flags.gfni, listed("gfni"));
  EXPECT_EQ(flags.amx_int8, listed("amx_int8"));
  if (!flags.amx_int8) {
    EXPECT_FALSE(RequestAmx());
  }
}
#endif

TEST(IsaFlagsTest, NamesTheSetOnes) {
  EXPECT_EQ(IsaFlagNames({}), "");
  EXPECT_EQ(IsaFlagNames({.avx2 = true, .gfni = true, .i8mm = true}), "avx2 gfni i8mm");
}

TEST(IsaFlagsTest, MissingAreTheWantedThatAreNotThere) {
  const IsaFlags has = {.avx2 = true, .gfni = true};
  EXPECT_EQ(IsaFlagNames(Missing({.avx2 = true, .fma = true, .i8mm = true}, has)), "fma i8mm");
  EXPECT_EQ(IsaFlagNames(Missing(has, has)), "");
}

}  // namespace
}  // namespace vivace
