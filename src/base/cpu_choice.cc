#include "base/cpu_choice.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/quota.h"

namespace vivace {
namespace {

// The allowed cpus. A cpu that the facts do not list is a core of its own.
std::vector<LogicalCpu> Allowed(const CpuFacts& facts, std::span<const int> affinity) {
  if (affinity.empty()) return facts.cpus;
  std::vector<LogicalCpu> allowed;
  for (const int id : affinity) {
    const auto known = std::find_if(facts.cpus.begin(), facts.cpus.end(),
                                    [id](const LogicalCpu& cpu) { return cpu.id == id; });
    allowed.push_back(known == facts.cpus.end() ? LogicalCpu{.id = id, .core = id} : *known);
  }
  return allowed;
}

}  // namespace

std::vector<int> ChooseCpus(const CpuFacts& facts, std::span<const int> affinity,
                            double quota_cores) {
  const std::vector<LogicalCpu> allowed = Allowed(facts, affinity);
  const bool any_big = std::any_of(allowed.begin(), allowed.end(), [](const LogicalCpu& cpu) {
    return cpu.kind == CoreKind::kBig;
  });
  std::map<int, std::vector<int>> by_node;
  std::set<int> cores;
  for (const LogicalCpu& cpu : allowed) {
    if (any_big && cpu.kind == CoreKind::kLittle) continue;
    if (cores.insert(cpu.core).second) by_node[cpu.node].push_back(cpu.id);
  }
  // The first of nodes with equally many cores.
  const auto best = std::max_element(
      by_node.begin(), by_node.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (best == by_node.end()) return {0};
  std::vector<int> chosen = best->second;
  if (quota_cores > 0 && quota_cores < static_cast<double>(chosen.size())) {
    chosen.resize(std::max<std::size_t>(1, static_cast<std::size_t>(quota_cores)));
  }
  return chosen;
}

std::vector<int> ChooseCpus() { return ChooseCpus(ReadCpuFacts(), AffinityCpus(), QuotaCores()); }

}  // namespace vivace
