#include "base/cpu.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <string_view>

#include "base/sysfs.h"

namespace vivace {
namespace {

// A core is big from this share of the fastest one's capacity on: a Cortex-A55 beside A76
// has 0.52, the middle cores of phones have 0.7 to 0.9.
constexpr double kBigCapacity = 0.6;
// The same by frequency, where no capacity is told. Cores that are sorted by quality
// differ by less, efficiency cores by more.
constexpr double kBigFrequency = 0.75;

std::string CpuFolder(const std::string& root, int cpu) {
  return root + "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
}

bool Contains(const std::vector<int>& sorted, int value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

// The value of the first line "key : value" of /proc/cpuinfo.
std::string CpuInfoValue(const std::string& root, std::string_view key) {
  std::ifstream file(root + "proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    if (start != std::string::npos) return line.substr(start);
  }
  return "";
}

// "48K", "2M", "1024".
std::int64_t ReadSize(const std::string& path) {
  const std::string line = ReadFirstLine(path);
  const std::int64_t value = std::clamp<std::int64_t>(ReadNumber(path, 0), 0, 1 << 30);
  const char unit = line.empty() ? '\0' : line.back();
  return value << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

void ReadCaches(const std::string& cpu_folder, CpuFacts& facts) {
  for (int index = 0;; ++index) {
    const std::string folder = cpu_folder + "cache/index" + std::to_string(index) + "/";
    const std::string type = ReadFirstLine(folder + "type");
    if (type.empty()) return;
    if (type == "Instruction") continue;
    const std::int64_t bytes = ReadSize(folder + "size");
    switch (ReadNumber(folder + "level", 0)) {
      case 1:
        facts.l1d_bytes = bytes;
        break;
      case 2:
        facts.l2_bytes = bytes;
        break;
      case 3:
        facts.l3_bytes = bytes;
        break;
      default:
        break;
    }
  }
}

void ReadCores(const std::string& root, CpuFacts& facts) {
  for (LogicalCpu& cpu : facts.cpus) {
    const std::string topology = CpuFolder(root, cpu.id) + "topology/";
    // The siblings, not core_id: that repeats in every package, on some ARM in every cluster.
    const std::vector<int> siblings =
        ParseCpuList(ReadFirstLine(topology + "thread_siblings_list"));
    const auto self = std::lower_bound(siblings.begin(), siblings.end(), cpu.id);
    const bool listed = self != siblings.end() && *self == cpu.id;
    cpu.core = listed ? siblings.front() : cpu.id;
    cpu.smt_index = listed ? static_cast<int>(self - siblings.begin()) : 0;
    cpu.package = static_cast<int>(
        std::clamp<std::int64_t>(ReadNumber(topology + "physical_package_id", 0), 0, kMaxCpu));
  }
  const std::string nodes = root + "sys/devices/system/node/";
  for (const int node : ParseCpuList(ReadFirstLine(nodes + "online"))) {
    const std::vector<int> cpus =
        ParseCpuList(ReadFirstLine(nodes + "node" + std::to_string(node) + "/cpulist"));
    for (LogicalCpu& cpu : facts.cpus) {
      if (Contains(cpus, cpu.id)) cpu.node = node;
    }
  }
}

// Marks the cpus whose number in `file` is below `share` of the largest. Whether any file
// was there.
bool MarkLittle(const std::string& root, const char* file, double share, CpuFacts& facts) {
  std::map<int, std::int64_t> values;
  std::int64_t largest = 0;
  for (const LogicalCpu& cpu : facts.cpus) {
    const std::int64_t value = ReadNumber(CpuFolder(root, cpu.id) + file, 0);
    values[cpu.id] = value;
    largest = std::max(largest, value);
  }
  for (LogicalCpu& cpu : facts.cpus) {
    const auto value = static_cast<double>(values[cpu.id]);
    if (value < share * static_cast<double>(largest)) cpu.kind = CoreKind::kLittle;
  }
  return largest > 0;
}

void ReadKinds(const std::string& root, CpuFacts& facts) {
  // Hybrid x86: one device for each kind, cpu_core for the big ones.
  const std::vector<int> big = ParseCpuList(ReadFirstLine(root + "sys/devices/cpu_core/cpus"));
  if (!big.empty()) {
    for (LogicalCpu& cpu : facts.cpus) {
      if (!Contains(big, cpu.id)) cpu.kind = CoreKind::kLittle;
    }
    return;
  }
  if (MarkLittle(root, "cpu_capacity", kBigCapacity, facts)) return;
  MarkLittle(root, "cpufreq/cpuinfo_max_freq", kBigFrequency, facts);
}

}  // namespace

std::string ReadCpuModel(const std::string& root) {
  std::string model = CpuInfoValue(root, "model name");
  // ARM boards are named by the device tree, servers at least by the core's part number.
  if (model.empty()) model = ReadFirstLine(root + "proc/device-tree/model");
  if (model.empty()) {
    const std::string part = CpuInfoValue(root, "CPU part");
    if (!part.empty()) model = "ARM " + CpuInfoValue(root, "CPU implementer") + " " + part;
  }
  return model;
}

CpuFacts ReadCpuFacts(const std::string& root) {
  CpuFacts facts;
  facts.model = ReadCpuModel(root);
  for (const int id : ParseCpuList(ReadFirstLine(root + "sys/devices/system/cpu/online"))) {
    facts.cpus.push_back({.id = id, .core = id});
  }
  ReadCores(root, facts);
  ReadKinds(root, facts);
  const auto big = std::find_if(facts.cpus.begin(), facts.cpus.end(),
                                [](const LogicalCpu& cpu) { return cpu.kind == CoreKind::kBig; });
  if (big != facts.cpus.end()) ReadCaches(CpuFolder(root, big->id), facts);
  return facts;
}

}  // namespace vivace
