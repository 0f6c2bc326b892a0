#include "machine/machine_json.h"

#include <cmath>

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

// Nine digits and more of a measured figure would only look exact.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json CoresJson(const CpuFacts& cpu) {
  int big = 0;
  int little = 0;
  int shared = 0;
  for (const LogicalCpu& logical : cpu.cpus) {
    shared += logical.smt_index != 0 ? 1 : 0;
    if (logical.smt_index != 0) continue;
    ++(logical.kind == CoreKind::kBig ? big : little);
  }
  return {{"big", big}, {"little", little}, {"logical", cpu.cpus.size()}, {"smt", shared > 0}};
}

Json TiersJson(const std::vector<TierFacts>& tiers) {
  Json list = Json::array();
  for (const TierFacts& tier : tiers) {
    list.push_back(
        {{"name", tier.name}, {"available", tier.missing.empty()}, {"missing", tier.missing}});
  }
  return list;
}

Json NodesJson(const std::vector<MemoryNode>& nodes) {
  Json list = Json::array();
  for (const MemoryNode& node : nodes) {
    list.push_back({{"id", node.id}, {"cpus", node.cpus}, {"total", node.total}});
  }
  return list;
}

Json ReadJson(const ReadSpeed& read) {
  if (!read.error.empty()) return {{"error", read.error}};
  return {{"one_thread_gb_s", SpreadJson(read.one_thread, 1e-9)},
          {"all_threads_gb_s", SpreadJson(read.all_threads, 1e-9)},
          {"huge_share", Rounded(read.huge_share)}};
}

}  // namespace

Json SpreadJson(const Spread& spread, double scale) {
  return {{"median", Rounded(scale * spread.median)},
          {"min", Rounded(scale * spread.min)},
          {"max", Rounded(scale * spread.max)}};
}

Json FactsJson(const MachineFacts& facts) {
  const Throttling& stops = facts.throttling;
  const auto threads = facts.chosen_cpus.size();
  return {{"system", facts.system},
          {"cpu", facts.cpu.model},
          {"hypervisor", facts.hypervisor},
          {"emulated", facts.emulated},
          {"caches",
           {{"l1d", facts.cpu.l1d_bytes},
            {"l2", facts.cpu.l2_bytes},
            {"l3", facts.cpu.l3_bytes},
            {"l3_total", facts.l3_total}}},
          {"isa", IsaFlagNames(facts.isa)},
          {"tiers", TiersJson(facts.tiers)},
          {"kernels", facts.tier},
          {"cores", CoresJson(facts.cpu)},
          {"affinity", facts.affinity},
          {"quota", {{"cores", facts.quota.cores}, {"source", facts.quota.source}}},
          {"throttling",
           {{"periods", stops.periods},
            {"throttled_periods", stops.throttled_periods},
            {"throttled_ms", stops.throttled_us / 1000}}},
          {"governor", facts.governor},
          {"threads", {{"decode", threads}, {"prefill", threads}, {"cpus", facts.chosen_cpus}}},
          {"numa", NodesJson(facts.nodes)},
          {"memory",
           {{"total", facts.memory.total},
            {"available", facts.memory.available},
            {"limit", facts.memory.limit},
            {"swap_total", facts.memory.swap_total},
            {"swap_used", facts.memory.swap_used}}},
          {"huge_pages",
           {{"transparent", facts.huge_pages.mode},
            {"defrag", facts.huge_pages.defrag},
            {"page", facts.huge_pages.page_bytes},
            {"reserved", facts.huge_pages.reserved},
            {"reserved_free", facts.huge_pages.reserved_free}}}};
}

Json LimitsJson(const MachineLimits& limits) {
  Json peaks = Json::object();
  for (const TierPeak& peak : limits.int8) {
    peaks[peak.tier] = {{"one_thread_gmac_s", SpreadJson(peak.one_thread, 1e-9)},
                        {"all_threads_gmac_s", SpreadJson(peak.all_threads, 1e-9)}};
  }
  return {{"threads", limits.threads},
          {"read_bytes", limits.bytes},
          {"read",
           {{"huge_pages", ReadJson(limits.huge_pages)},
            {"small_pages", ReadJson(limits.small_pages)},
            {"file", ReadJson(limits.file)}}},
          {"int8", peaks},
          {"seconds", Rounded(limits.seconds)}};
}

}  // namespace vivace
