#include "machine/facts.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/cpu_choice.h"
#include "base/sysfs.h"
#include "kernels/dispatch.h"
#include "kernels/tiers.h"
#include "machine/hypervisor.h"
#include "machine/key_values.h"

namespace vivace {
namespace {

std::string SystemName() {
  utsname name = {};
  if (uname(&name) != 0) return "";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string CpuFolder(const std::string& root, int cpu) {
  return root + "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
}

std::int64_t TotalL3(const std::string& root, const CpuFacts& cpu) {
  std::set<std::string> slices;
  for (const LogicalCpu& logical : cpu.cpus) {
    const std::string folder = CpuFolder(root, logical.id) + "cache/index3/";
    if (ReadNumber(folder + "level", 0) != 3) continue;
    slices.insert(ReadFirstLine(folder + "shared_cpu_list"));
  }
  return cpu.l3_bytes * static_cast<std::int64_t>(slices.size());
}

std::string Governor(const std::string& root, const CpuFacts& cpu) {
  for (const LogicalCpu& logical : cpu.cpus) {
    if (logical.kind != CoreKind::kBig) continue;
    return ReadFirstLine(CpuFolder(root, logical.id) + "cpufreq/scaling_governor");
  }
  return "";
}

std::vector<MemoryNode> ReadNodes(const std::string& root) {
  const std::string folder = root + "sys/devices/system/node/";
  std::vector<MemoryNode> nodes;
  for (const int id : ParseCpuList(ReadFirstLine(folder + "online"))) {
    const std::string node = folder + "node" + std::to_string(id) + "/";
    nodes.push_back({.id = id,
                     .cpus = ParseCpuList(ReadFirstLine(node + "cpulist")),
                     .total = ValueOf(ReadKeyValues(node + "meminfo"), "MemTotal")});
  }
  return nodes;
}

MemoryFacts ReadMemory(const std::string& root) {
  const KeyValues values = ReadKeyValues(root + "proc/meminfo");
  const std::int64_t swap = ValueOf(values, "SwapTotal");
  return {.total = ValueOf(values, "MemTotal"),
          .available = ValueOf(values, "MemAvailable"),
          .swap_total = swap,
          .swap_used = swap - ValueOf(values, "SwapFree"),
          .limit = MemoryLimit(root)};
}

void ReadTiers(MachineFacts& facts) {
  // The dispatcher knows more than flags: a system may refuse the tile registers.
  const std::set<const KernelTable*> usable(SupportedKernels().begin(), SupportedKernels().end());
  for (const Tier& tier : TiersFor(facts.isa)) {
    std::string missing = IsaFlagNames(tier.missing);
    if (missing.empty() && !usable.contains(tier.kernels)) missing = "the system's permission";
    facts.tiers.push_back({tier.kernels->name, missing});
  }
  const char* wish = std::getenv("VIVACE_KERNELS");
  facts.wished_tier = wish == nullptr ? "" : wish;
  const auto selected = SelectKernels(facts.wished_tier);
  if (selected) facts.tier = (*selected)->name;
}

}  // namespace

std::int64_t MemoryFacts::usable() const {
  return limit > 0 && limit < available ? limit : available;
}

MachineFacts ReadMachineFacts(const std::string& root) {
  MachineFacts facts;
  facts.system = SystemName();
  facts.cpu = ReadCpuFacts(root);
  facts.isa = DetectIsaFlags();
  facts.l3_total = TotalL3(root, facts.cpu);
  facts.governor = Governor(root, facts.cpu);
  const Hypervisor hypervisor = DetectHypervisor(root, facts.cpu.model);
  facts.hypervisor = hypervisor.name;
  facts.emulated = hypervisor.emulates;
  facts.affinity = AffinityCpus();
  facts.quota = ReadQuota(root);
  facts.throttling = ReadThrottling(root);
  facts.nodes = ReadNodes(root);
  facts.memory = ReadMemory(root);
  facts.huge_pages = ReadHugePageFacts(root);
  facts.chosen_cpus = ChooseCpus(facts.cpu, facts.affinity, facts.quota.cores);
  ReadTiers(facts);
  return facts;
}

}  // namespace vivace
